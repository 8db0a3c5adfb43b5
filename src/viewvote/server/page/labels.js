// Labels as chips: Enter or a comma ends one, a pasted list is many, Backspace takes the last back.

import { colour } from "./colours.js";
import { $, arrange, make } from "./dom.js";
import { plural, readLabels } from "./words.js";

const DRAFT_DELAY = 150;

/** `labels()` and `texts()` are the present ones; `change(labels, texts)` sets them; `draft(text)` is what is being typed. */
export function labelBox({ labels, texts, change, draft }) {
  const box = $("label-box");
  const input = $("draft");
  let timer = 0;

  const setDraft = (text) => {
    clearTimeout(timer);
    timer = setTimeout(() => draft(text.trim()), text ? DRAFT_DELAY : 0);
  };
  const add = (...found) => {
    input.value = "";
    clearTimeout(timer);
    draft("");
    const fresh = found.flatMap((some) => some.labels).filter((label) => !labels().includes(label));
    const own = Object.assign({}, ...found.map((some) => some.texts));
    if (fresh.length || Object.keys(own).length) change([...new Set([...labels(), ...fresh])], { ...texts(), ...own });
  };
  const remove = (label) => {
    const place = labels().indexOf(label);
    change(
      labels().filter((other) => other !== label),
      texts(),
    );
    ($("chips").children[place]?.querySelector("button") ?? input).focus();
  };

  input.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Enter" || event.key === ",") {
      event.preventDefault();
      add(readLabels(input.value));
    } else if (event.key === "Backspace" && input.value === "" && labels().length) {
      change(labels().slice(0, -1), texts());
    } else if (event.key === "Escape") {
      input.value = "";
      setDraft("");
    }
  });
  input.addEventListener("input", () => setDraft(input.value));
  input.addEventListener("blur", () => input.value.trim() && add(readLabels(input.value)));
  input.addEventListener("paste", (event) => {
    const text = event.clipboardData.getData("text");
    const found = readLabels(text);
    if (found.labels.length > 1 || Object.keys(found.texts).length || /\n/.test(text)) {
      event.preventDefault();
      add(readLabels(input.value), found);
    }
  });
  box.addEventListener("click", (event) => (event.target === box || event.target === $("chips")) && input.focus());

  const fromFile = async (file) => add(readLabels(await file.text()));
  $("labels-file").addEventListener("click", () => $("labels-input").click());
  $("labels-input").addEventListener("change", (event) => {
    if (event.target.files.length) fromFile(event.target.files[0]);
    event.target.value = "";
  });
  box.addEventListener("dragover", () => box.classList.add("over"));
  for (const end of ["dragleave", "drop"]) box.addEventListener(end, () => box.classList.remove("over"));
  box.addEventListener("drop", (event) => {
    const file = event.dataTransfer.files[0];
    if (!file || file.type.startsWith("image/")) return; // a photo is for the page
    event.preventDefault();
    event.stopPropagation();
    document.dispatchEvent(new Event("dropped"));
    fromFile(file);
  });

  return {
    focus: () => input.focus(),
    show() {
      const build = (label) =>
        make(
          "li",
          { class: "chip" },
          make("span", { class: "dot" }),
          make("span", {}, label),
          make("small"),
          make("button", { type: "button", "aria-label": `Remove ${label}`, onclick: () => remove(label) }, "×"),
        );
      arrange($("chips"), labels(), String, build, (chip, label) => {
        chip.className = `chip ${colour(label)}`;
        const own = texts()[label];
        chip.children[1].title = own ? own.join("\n") : label;
        chip.children[2].textContent = own ? plural(own.length, "text") : "";
      });
    },
  };
}
