// The controls of the settings, and words about what they mean.

import { $, make } from "./dom.js";
import { methodOf } from "./settings.js";

const OWN = "\u0000own";

/** `settings()` are the present ones, `change(part)` changes some of them. */
export function controls(info, { settings, change, reset }) {
  const option = (value, text = value) => make("option", { value }, text);
  $("method").replaceChildren(...info.methods.map(({ name }) => option(name)));
  $("templates").replaceChildren(
    option("", "the method's own"),
    ...Object.keys(info.templates).map((name) => option(name)),
    option(OWN, "your own …"),
  );
  $("model").replaceChildren(...info.models.map((name) => option(name)));
  $("model").disabled = info.models.length < 2;
  $("views-count").max = info.limits.views;

  $("settings").addEventListener("submit", (event) => event.preventDefault());
  $("views-count").addEventListener("input", (event) => change({ views: Number(event.target.value) }));
  $("adaptive").addEventListener("change", (event) =>
    change({ views: event.target.checked ? "adaptive" : Number($("views-count").value) }),
  );
  $("keep").addEventListener("input", (event) => change({ keep: Number(event.target.value) / 100 }));
  $("method").addEventListener("change", (event) => change({ method: event.target.value, keep: null }));
  for (const name of ["none", "multi"])
    $(name).addEventListener("change", (event) => change({ [name]: event.target.checked }));
  $("model").addEventListener("change", (event) => change({ model: event.target.value }));
  $("templates").addEventListener("change", (event) => {
    const own = event.target.value === OWN;
    $("own-template").hidden = !own;
    if (own) $("own-template").focus();
    else change({ templates: event.target.value || null });
  });
  $("own-template").addEventListener("input", (event) =>
    change({ templates: event.target.value.includes("{}") ? event.target.value : null }),
  );
  $("reset").addEventListener("click", reset);

  return function show() {
    const now = settings();
    const method = methodOf(now, info);
    const adaptive = now.views === "adaptive" && method.adaptive;
    const one = !method.adaptive && !method.keep && method.name !== "mta";
    $("adaptive").checked = adaptive;
    $("adaptive").disabled = !method.adaptive;
    $("views-count").disabled = one;
    if (now.views !== "adaptive") $("views-count").value = now.views;
    else if (!adaptive) $("views-count").value = info.limits.views;
    $("views-shown").textContent = one
      ? "the source view"
      : adaptive
        ? `at most ${info.limits.views}`
        : $("views-count").value;
    const keep = now.keep ?? method.default_keep ?? 1;
    $("keep").disabled = !method.keep;
    $("keep").value = Math.round(100 * keep);
    $("keep-shown").textContent = method.keep ? `${Math.round(100 * keep)}%` : "all";
    for (const name of ["none", "multi"]) $(name).checked = now[name];
    $("method").value = now.method;
    $("method-words").textContent = method.summary;
    const own = now.templates !== null && !(now.templates in info.templates);
    if (own) $("own-template").value = now.templates;
    if (document.activeElement !== $("own-template")) {
      $("own-template").hidden = !own;
      $("templates").value = own ? OWN : (now.templates ?? "");
    }
    $("templates-words").textContent =
      $("templates").value === OWN ? "{} stands for the label." : (info.templates[now.templates] ?? "");
    $("model").value = now.model;
  };
}
