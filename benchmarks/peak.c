/* Peak multiply-adds per second of one core: fp32, int8 summed in 32 bits, int8 summed twice in 16 bits (AVX2), and,
   where the processor has them, fp32 in 512 bits and int8 by VNNI.

   `python -m benchmarks.peak` compiles and runs it. Operands stay in registers: no matrix product can
   be quicker with these instructions. */
#include <immintrin.h>
#include <stdio.h>
#include <time.h>

#define CHAINS 12 /* sums that do not wait for each other */
#define TIMES 20000000L

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static double fp32(void) {
    __m256 sum[CHAINS], a = _mm256_set1_ps(1e-9f), b = _mm256_set1_ps(1.5f);
#pragma GCC unroll 12
    for (int i = 0; i < CHAINS; i++) sum[i] = _mm256_setzero_ps();
    double start = now();
    for (long n = 0; n < TIMES; n++)
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++) {
            sum[i] = _mm256_fmadd_ps(a, b, sum[i]);
            __asm__ volatile("" : "+x"(sum[i]));
        }
    return 8e-9 * CHAINS * TIMES / (now() - start);
}

static double int8_in_32(void) {
    __m256i sum[CHAINS], a = _mm256_set1_epi8(3), b = _mm256_set1_epi8(1), one = _mm256_set1_epi16(1);
#pragma GCC unroll 12
    for (int i = 0; i < CHAINS; i++) sum[i] = _mm256_setzero_si256();
    double start = now();
    for (long n = 0; n < TIMES; n++)
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++) {
            __asm__ volatile("" : "+x"(a)); /* the products must be formed anew */
            __m256i pairs = _mm256_maddubs_epi16(a, b);
            sum[i] = _mm256_add_epi32(sum[i], _mm256_madd_epi16(pairs, one));
            __asm__ volatile("" : "+x"(sum[i]));
        }
    return 32e-9 * CHAINS * TIMES / (now() - start);
}

static double int8_in_16(void) {
    __m256i sum[CHAINS], a = _mm256_set1_epi8(3), b = _mm256_set1_epi8(1), one = _mm256_set1_epi16(1);
#pragma GCC unroll 12
    for (int i = 0; i < CHAINS; i++) sum[i] = _mm256_setzero_si256();
    double start = now();
    for (long n = 0; n < TIMES; n++)
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++) {
            __asm__ volatile("" : "+x"(a));
            __m256i pairs = _mm256_maddubs_epi16(a, b);
            __asm__ volatile("" : "+x"(a));
            pairs = _mm256_add_epi16(pairs, _mm256_maddubs_epi16(a, b)); /* weights of 6 bits, or they overflow */
            sum[i] = _mm256_add_epi32(sum[i], _mm256_madd_epi16(pairs, one));
            __asm__ volatile("" : "+x"(sum[i]));
        }
    return 64e-9 * CHAINS * TIMES / (now() - start);
}

__attribute__((target("avx512f"))) static double fp32_wide(void) {
    __m512 sum[CHAINS], a = _mm512_set1_ps(1e-9f), b = _mm512_set1_ps(1.5f);
#pragma GCC unroll 12
    for (int i = 0; i < CHAINS; i++) sum[i] = _mm512_setzero_ps();
    double start = now();
    for (long n = 0; n < TIMES; n++)
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++) {
            sum[i] = _mm512_fmadd_ps(a, b, sum[i]);
            __asm__ volatile("" : "+v"(sum[i]));
        }
    return 16e-9 * CHAINS * TIMES / (now() - start);
}

__attribute__((target("avx512f,avx512vnni"))) static double int8_vnni(void) {
    __m512i sum[CHAINS], a = _mm512_set1_epi32(0x03030303), b = _mm512_set1_epi32(0x01010101);
#pragma GCC unroll 12
    for (int i = 0; i < CHAINS; i++) sum[i] = _mm512_setzero_si512();
    double start = now();
    for (long n = 0; n < TIMES; n++)
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++) {
            sum[i] = _mm512_dpbusd_epi32(sum[i], a, b);
            __asm__ volatile("" : "+v"(sum[i]));
        }
    return 64e-9 * CHAINS * TIMES / (now() - start);
}

int main(void) {
    for (int round = 0; round < 5; round++) {
        printf("fp32 in 256 bits %.0f, int8 summed in 32 bits %.0f, int8 summed in 16 bits %.0f", fp32(), int8_in_32(), int8_in_16());
        if (__builtin_cpu_supports("avx512f")) printf(", fp32 in 512 bits %.0f", fp32_wide());
        if (__builtin_cpu_supports("avx512vnni")) printf(", int8 by VNNI %.0f", int8_vnni());
        printf(" GMAC/s\n");
    }
}
