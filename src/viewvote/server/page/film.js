// The photo, and under it the filmstrip; dropping, pasting and choosing more.

import { passes } from "./api.js";
import { colour } from "./colours.js";
import { $, arrange, make } from "./dom.js";
import { viewsOf } from "./photos.js";
import { best, isUnsure, likelihood, noneFits, percent, plural } from "./words.js";

/** What a photo's badge says and in which colour. */
export function verdict(photo, unsure) {
  if (photo.state === "failed")
    return { text: passes(photo.failure) ? "waiting" : "no answer", tint: "c0", none: true };
  const prediction = photo.state === "done" ? photo.prediction : photo.source;
  if (!prediction) return { text: "", tint: "c0", none: true };
  if (photo.state === "done" && isUnsure(prediction, unsure)) return { text: "unsure", tint: "c0", none: true };
  const voting = photo.state === "voting" && photo.round;
  const label = voting ? photo.round.leader : best(prediction);
  if (!voting && noneFits(prediction))
    return { text: "none fits", tint: "c0", none: true, likely: percent(likelihood(prediction)) };
  return { text: label, tint: colour(label), none: false, likely: percent(likelihood(prediction)) };
}

export function showFilm({ photos, open, unsure, show, add, remove }) {
  const items = [...photos, null];
  const build = (photo) => (photo ? frame(photo, { show, remove }) : addButton(add));
  arrange(
    $("film"),
    items,
    (photo) => photo?.id ?? "add",
    build,
    (item, photo) => {
      if (!photo) return;
      const button = item.firstChild;
      const { text, tint } = verdict(photo, unsure);
      const thumb = `${photo.thumb} ${photo.visible}`;
      if (button.dataset.thumb !== thumb) {
        button.dataset.thumb = thumb;
        const picture = photo.thumb
          ? make("img", { src: photo.thumb, alt: "" })
          : make("span", { class: "blank" }, photo.visible === false ? "!" : "");
        button.firstChild.replaceWith(picture);
      }
      button.lastChild.textContent = text;
      button.lastChild.className = `badge ${tint}`;
      button.setAttribute("aria-label", `${photo.name}: ${text || "being asked"}`);
      button.dataset.state = photo.state;
      if (photo === open && button.getAttribute("aria-current") !== "true") bring(item);
      button.setAttribute("aria-current", String(photo === open));
      button.tabIndex = photo === open ? 0 : -1;
    },
  );
}

function frame(photo, { show, remove }) {
  const keys = {
    ArrowRight: (button) => step(button, 1),
    ArrowLeft: (button) => step(button, -1),
    ArrowDown: (button) => step(button, 1),
    ArrowUp: (button) => step(button, -1),
    Home: () => $("film").querySelector(".frame").focus(),
    End: () => [...$("film").querySelectorAll(".frame")].at(-1).focus(),
    Delete: () => remove(photo),
  };
  const onkeydown = (event) => {
    if (!keys[event.key] || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    keys[event.key](event.currentTarget);
  };
  const inside = [make("span", { class: "blank" }), make("span", { class: "badge" })];
  return make(
    "li",
    {},
    make(
      "button",
      { type: "button", class: "frame", title: photo.name, onclick: () => show(photo), onkeydown },
      ...inside,
    ),
  );
}

/** Scroll the filmstrip, and nothing else, until an item is in sight. */
function bring(item) {
  const film = $("film");
  const [outer, inner] = [film, item].map((element) => element.getBoundingClientRect());
  film.scrollTop += Math.max(0, inner.bottom - outer.bottom) + Math.min(0, inner.top - outer.top);
  film.scrollLeft += Math.max(0, inner.right - outer.right) + Math.min(0, inner.left - outer.left);
}

function step(button, by) {
  const all = [...$("film").querySelectorAll(".frame")];
  all[all.indexOf(button) + by]?.focus();
}

const addButton = (add) =>
  make(
    "li",
    {},
    make(
      "button",
      {
        type: "button",
        class: "add",
        id: "add",
        onclick: add,
        "aria-label": "Drop or paste photos, or choose files",
      },
      "Drop or paste",
    ),
  );

/** The photo itself, and words where there is none or it failed. */
export function showStage(photo, { retry, add }) {
  const image = $("photo");
  $("picture").style.setProperty("--ratio", photo?.width ? photo.width / photo.height : photo ? 1 : 1.4);
  image.hidden = !photo || photo.visible !== true;
  if (photo && image.dataset.id !== String(photo.id)) {
    image.src = photo.url;
    image.dataset.id = photo.id;
  }
  if (!photo) image.removeAttribute("src");
  if (!photo) delete image.dataset.id;
  image.alt = photo ? photo.name : "";
  const words = $("stage-words");
  const found = stageWords(photo, { retry, add });
  words.hidden = !found;
  words.classList.toggle("over", Boolean(photo));
  if (found && words.dataset.shown !== found.key) {
    words.dataset.shown = found.key;
    words.replaceChildren(...found.nodes());
  }
  if (!found) delete words.dataset.shown;
  $("caption").textContent = caption(photo);
}

function stageWords(photo, { retry, add }) {
  if (!photo) {
    const nodes = () => [
      make("strong", {}, "Drop photos here"),
      "or paste them, or choose files.",
      make("br"),
      make("button", { type: "button", class: "button", onclick: add }, "Choose photos"),
    ];
    return { key: "none", nodes };
  }
  const { failure } = photo;
  if (photo.state !== "failed") {
    if (photo.visible === false && photo.state === "done")
      return {
        key: "unseen",
        nodes: () => [make("strong", {}, photo.name), "This browser cannot show the photo; the service could read it."],
      };
    return null;
  }
  if (failure.code === "queue_full") {
    const left = Math.max(1, Math.ceil((photo.again - Date.now()) / 1000));
    const nodes = () => [
      make("strong", {}, "The service is full"),
      `Trying again in ${left} s.`,
      make("br"),
      again(photo, retry, "Try now"),
    ];
    return { key: `full ${left}`, nodes };
  }
  const title = {
    unreadable_image: "Not a photo",
    image_too_large: "Too large",
    request_too_large: "Too large",
    gone: "Not answered yet",
    not_ready: "Not answered yet",
    deadline_exceeded: "It took too long",
  };
  const retryable = !["unreadable_image", "image_too_large", "request_too_large", "invalid_request"].includes(
    failure.code,
  );
  const nodes = () => [
    make("strong", {}, title[failure.code] ?? "No answer"),
    failure.message,
    ...(retryable ? [make("br"), again(photo, retry, "Try again")] : []),
  ];
  return { key: `${photo.id} ${failure.code} ${failure.message}`, nodes };
}

const again = (photo, retry, text) =>
  make("button", { type: "button", class: "button", onclick: () => retry(photo) }, text);

function caption(photo) {
  if (!photo || photo.state === "failed") return photo ? photo.name : "";
  const views = viewsOf(photo);
  const kept = views.filter((view) => view.kept).length;
  if (!kept || (photo.state === "voting" && photo.round))
    return kept ? `The ${plural(kept, "most confident view")} so far.` : "";
  if (views.length === 1) return "The source view: the photo as the model resizes and crops it.";
  const which =
    kept === 1
      ? `The most confident of ${views.length} views.`
      : kept === views.length
        ? `All ${kept} views.`
        : `The ${kept} most confident of ${views.length} views.`;
  return `${which} Point at one to see where it looked.`;
}

/** Photos dropped anywhere, pasted anywhere, or chosen. */
export function takePhotos(take) {
  let depth = 0;
  const over = (on) => ($("drop").hidden = !on);
  const files = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  document.addEventListener("dragenter", (event) => files(event) && (depth++, over(true)));
  document.addEventListener("dragleave", (event) => files(event) && --depth <= 0 && ((depth = 0), over(false)));
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("dropped", () => ((depth = 0), over(false)));
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    depth = 0;
    over(false);
    take([...event.dataTransfer.files]);
  });
  document.addEventListener("paste", (event) => {
    const found = [...(event.clipboardData?.files ?? [])];
    if (found.length === 0) return;
    event.preventDefault();
    take(found);
  });
  $("photo-input").addEventListener("change", (event) => {
    take([...event.target.files]);
    event.target.value = "";
  });
}
