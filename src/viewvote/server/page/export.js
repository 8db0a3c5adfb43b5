// What leaves the page: code that does the same, a link to the settings, the answer as files.

import { explain, Failure, hasKey } from "./api.js";
import { rows } from "./all.js";
import * as code from "./code.js";
import { $, copy, press, save } from "./dom.js";
import { toOptions } from "./settings.js";
import { plural } from "./words.js";

const PACKAGE = { method: "anchored", views: "adaptive", templates: null }; // what Python and the command line do by themselves
const FAILED = "The browser did not allow copying.";

/** Returns what shows the code for the open photo. */
export function exporting({ state, info, request }) {
  let language = "python";
  const say = (words) => ($("export-words").textContent = words);
  const stem = () => state.open.name.replace(/\.[^.]*$/, "");

  function show() {
    const { settings, open } = state;
    const options = toOptions(settings, language === "curl" ? info : { ...info, defaults: PACKAGE });
    $("code").textContent = code[language](open?.name ?? "photo.jpg", settings.model, options, hasKey());
    for (const id of ["save-json", "save-picture"]) $(id).disabled = open?.state !== "done";
  }

  const languages = [...document.querySelectorAll("[data-code]")];
  for (const button of languages) {
    button.addEventListener("click", () => {
      language = button.dataset.code;
      press(languages, button);
      show();
    });
  }
  $("copy-code").addEventListener("click", async () => say((await copy($("code").textContent)) ? "Copied." : FAILED));
  $("copy-link").addEventListener("click", async () => {
    say((await copy(location.href)) ? "The link is copied; it has the settings and no photo." : FAILED);
  });
  $("save-json").addEventListener("click", () => {
    const text = JSON.stringify({ ...state.open.prediction, path: state.open.name }, null, 2);
    save(new Blob([text], { type: "application/json" }), `${stem()}.json`);
  });
  $("save-picture").addEventListener("click", async () => {
    const name = `${stem()}-explained.png`;
    say("Drawing …");
    try {
      save(await explain(state.open.file, request()), name);
      say("");
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      say(error.message);
    }
  });
  $("save-csv").addEventListener("click", () => {
    const table = rows(state.photos, state.settings.unsure);
    save(new Blob([code.csv(table)], { type: "text/csv" }), "viewvote.csv");
    $("said").textContent = `${plural(table.length - 1, "photo")} exported.`;
  });
  return show;
}
