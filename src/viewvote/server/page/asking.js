// Who is asked next, and what becomes of the answers: the open photo first, source views before votes.

import { Failure, alive, classify, vote } from "./api.js";

const AT_ONCE = 3;

/**
 * `state` has photos, open (the photo shown) and drafting (labels are being typed: only the open photo is asked);
 * `request()` the options to ask with, or null where there is nothing to ask; `limits` those of the service;
 * `changed(photo)` is called when something about a photo is new, `service(words)` when the service comes and goes.
 */
export class Asking {
  constructor({ state, request, limits, changed, service }) {
    Object.assign(this, { state, request, limits, changed, service });
    this.running = new Map(); // photo to AbortController
    this.paused = false;
    this.later = new Map(); // photo to timer
  }

  /** Look at what there is to ask; call it whenever something changed. */
  wake() {
    const options = this.request();
    const wanted = options && JSON.stringify(options);
    for (const [photo, running] of this.running) {
      if (photo.asked !== wanted || !this.state.photos.includes(photo)) {
        running.abort();
        this.running.delete(photo);
      }
    }
    if (!options || this.paused) return;
    while (this.running.size < AT_ONCE) {
      const photo = this.next(wanted);
      if (!photo) return;
      this.ask(photo, options, wanted);
    }
  }

  /** Ask again what failed or waits for its turn to try again. */
  retry(photo) {
    clearTimeout(this.later.get(photo));
    this.later.delete(photo);
    photo.asked = null;
    this.wake();
  }

  next(wanted) {
    const { photos, open, drafting } = this.state;
    const free = (photo) => photo.visible !== null && !this.running.has(photo) && !this.later.has(photo);
    const unasked = (photo) => free(photo) && photo.asked !== wanted;
    const unvoted = (photo) => free(photo) && photo.asked === wanted && photo.state === "source";
    if (open && (unasked(open) || unvoted(open))) return open;
    if (drafting) return null;
    return photos.find(unasked) ?? (open && this.running.has(open) ? null : photos.find(unvoted));
  }

  async ask(photo, options, wanted) {
    const running = new AbortController();
    this.running.set(photo, running);
    const first = photo.asked !== wanted;
    if (first) Object.assign(photo, { asked: wanted, state: "asking", failure: null });
    try {
      await (first ? this.askSource(photo, options, running.signal) : this.askVote(photo, options, running.signal));
    } catch (error) {
      if (running.signal.aborted) return;
      this.failed(photo, error);
    }
    if (this.running.get(photo) === running) this.running.delete(photo);
    this.changed(photo);
    this.wake();
  }

  async askSource(photo, options, signal) {
    if (photo.file.size + 4096 > this.limits.bytes) {
      const [found, most] = [photo.file.size, this.limits.bytes].map((n) => n.toLocaleString("en"));
      throw new Failure(`${photo.name} has ${found} bytes; the limit is ${most} bytes. Shrink it.`, "image_too_large");
    }
    const { keep, none, multi_label, ...rest } = options; // what is asked of the vote alone
    photo.source = await classify(photo.file, { ...rest, method: "zero-shot", views: 1 }, signal);
    photo.state = "source";
  }

  async askVote(photo, options, signal) {
    photo.state = "voting";
    photo.leaders = [];
    photo.round = null;
    for await (const { event, data } of vote(photo.file, options, signal)) {
      if (signal.aborted) return;
      if (event === "accepted") photo.budget = data.budget;
      if (event === "error") throw new Failure(data.error, data.code);
      if (event === "round" || event === "prediction") {
        photo.width = data.width; // of the upright photo, as the boxes are
        photo.height = data.height;
      }
      if (event === "round") {
        photo.round = data;
        photo.leaders.push([data.seen, data.leader]);
        this.changed(photo);
      }
      if (event === "prediction") Object.assign(photo, { prediction: data.prediction, state: "done" });
    }
  }

  failed(photo, error) {
    if (!(error instanceof Failure)) throw error;
    Object.assign(photo, { state: "failed", failure: error });
    if (error.code === "gone" || error.code === "not_ready") this.wait();
    else if (error.code === "unauthorized") this.service("key");
    else if (error.code === "queue_full") this.tryLater(photo, error);
  }

  /** The queue is full: ask again when the service said so. */
  tryLater(photo, error) {
    photo.again = Date.now() + 1000 * Math.max(1, error.retryAfter);
    const tick = () => {
      if (Date.now() >= photo.again) return this.retry(photo);
      this.changed(photo);
      this.later.set(photo, setTimeout(tick, 250));
    };
    this.later.set(photo, setTimeout(tick, 0));
  }

  /** Nothing answers: knock until something does, then ask what was not answered. */
  async wait() {
    if (this.paused) return;
    this.paused = true;
    this.service("gone");
    while (!(await alive())) await new Promise((resolve) => setTimeout(resolve, 1500));
    this.paused = false;
    this.service("back");
    for (const photo of this.state.photos)
      if (photo.state === "failed" && photo.failure.code !== "unreadable_image") photo.asked = null;
    this.wake();
  }
}
