// The same as Python, on the command line, and over HTTP.

import { address } from "./api.js";

const quote = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);
const literal = (value) => ({ null: "None", true: "True" })[value] ?? JSON.stringify(value);
const ARGUMENTS = { none: "none_of_these" }; // where Python has another name

/** The labels as Python writes them: a list, or a dict of their texts. */
function pythonLabels(labels) {
  if (Array.isArray(labels)) return `[${labels.map(literal).join(", ")}]`;
  const rows = Object.entries(labels).map(([label, texts]) => `        ${literal(label)}: [${texts.map(literal).join(", ")}],`);
  return `{\n${rows.join("\n")}\n    }`;
}

/** `options` are those that differ from what the package does by itself. */
export function python(file, model, options) {
  const { labels, views, ...rest } = options;
  const lines = [`    ${literal(model)},`, `    labels=${pythonLabels(labels)},`];
  if (views !== undefined) lines.push(`    n_views=${literal(views)},`);
  for (const [name, value] of Object.entries(rest)) lines.push(`    ${ARGUMENTS[name] ?? name}=${literal(value)},`);
  return [
    "from viewvote import Classifier",
    "",
    "classify = Classifier(",
    ...lines,
    ")",
    `prediction = classify(${literal(file)})`,
    `print(prediction.label, prediction.probability, prediction.${options.multi_label ? "shown" : "votes"})`,
  ].join("\n");
}

export function cli(file, model, options) {
  const { labels, ...rest } = options;
  const list = Array.isArray(labels);
  const plain = list && labels.every((label) => !/[,\n]/.test(label));
  const words = ["viewvote classify", quote(file.startsWith("-") ? `./${file}` : file)];
  words.push(plain ? `--labels ${quote(labels.join(","))}` : `--labels-file labels.${list ? "txt" : "json"}`);
  if (model !== "pocket") words.push(`--model ${quote(model)}`);
  for (const [name, value] of Object.entries(rest))
    words.push(`--${name.replace("_", "-")}${value === true ? "" : ` ${quote(String(value))}`}`);
  const command = words.join(" \\\n  ");
  if (plain) return command;
  if (list) return `printf '%s\\n' ${labels.map(quote).join(" ")} > labels.txt\n${command}`;
  return `printf '%s\\n' ${quote(JSON.stringify(labels))} > labels.json\n${command}`;
}

export function curl(file, model, options, withKey) {
  const words = ["curl"];
  if (withKey) words.push(`--header "X-API-Key: $VIEWVOTE_API_KEY"`);
  words.push(`--form ${quote(`image=@"${file.replace(/["\\]/g, "\\$&")}"`)}`);
  for (const [name, value] of Object.entries(options)) {
    words.push(`--form-string ${quote(`${name}=${typeof value === "object" ? JSON.stringify(value) : value}`)}`);
  }
  words.push(quote(address("v1/classify")));
  return words.join(" \\\n  ");
}

/** Rows of a table as CSV. */
export function csv(rows) {
  const cell = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map((row) => row.map(cell).join(",") + "\r\n").join("");
}
