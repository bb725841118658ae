// Tables: rows by column, with a button that saves them as CSV.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { writeJson, type Json } from "./json";
import { Text, visible } from "./text";

/** The longest text that a cell shows without a click. */
const cellLength = 200;

export interface Column<T> {
  name: string;
  value: (row: T) => Json; // the value in the CSV file, and in the cell unless `view` is given
  view?: (row: T) => ComponentChildren;
}

/**
 * Shows rows, at first as many as `most` says. The label is the name of the table for screen readers, and the name of the CSV file. A high table scrolls in a
 * box of its own; one that is the main part of its page is `whole` instead, and makes the page higher.
 */
export function Table<T>(props: { label: string; columns: Column<T>[]; rows: T[]; empty?: string; whole?: boolean; most?: number }) {
  const { label, columns, rows, empty = "There is nothing to show.", whole = false, most = Infinity } = props;
  const [shown, setShown] = useState(most);
  if (rows.length === 0) {
    return <p class="empty">{empty}</p>;
  }
  return (
    <div class="tabled">
      <div class={whole ? "scroll whole" : "scroll"} role="region" aria-label={visible(label)} tabIndex={0}>
        <table>
          <thead>
            <tr>
              {columns.map((c) => (
                <th scope="col" key={c.name} class={rows.some((row) => isNumber(c.value(row))) ? "number" : undefined}>
                  <Text value={c.name} most={cellLength} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, shown).map((row, i) => (
              <tr key={i}>
                {columns.map((c) => (
                  <td key={c.name} class={isNumber(c.value(row)) ? "number" : undefined}>
                    {c.view ? c.view(row) : <Value value={c.value(row)} most={cellLength} />}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > shown && (
        <button type="button" class="quiet" onClick={() => setShown(2 * shown)}>
          Show more of {rows.length.toLocaleString("en")} rows
        </button>
      )}
      <button type="button" class="quiet" onClick={() => save(label + ".csv", new Blob([csv(columns, rows)], { type: "text/csv;charset=utf-8" }))}>
        Save as CSV
      </button>
    </div>
  );
}

function isNumber(value: Json): boolean {
  return typeof value === "number" || typeof value === "bigint";
}

/** Shows a JSON value without a tree: a string as text, everything else as JSON. */
export function Value(props: { value: Json | undefined; most?: number }) {
  const { value, most } = props;
  if (value === null || value === undefined) {
    return <span class="null">null</span>;
  }
  const text = typeof value === "string" ? value : writeJson(value);
  return most === undefined ? <Text value={text} /> : <Text value={text} most={most} />;
}

/** Returns a column for each member of rows that are objects. */
export function columnsOf(rows: Record<string, Json>[]): Column<Record<string, Json>>[] {
  return [...new Set(rows.flatMap((row) => Object.keys(row)))].map((name) => ({ name, value: (row) => row[name] ?? null }));
}

/** Returns the rows as CSV (RFC 4180). */
export function csv<T>(columns: Column<T>[], rows: T[]): string {
  const line = (cells: Json[]) => cells.map(csvCell).join(",") + "\r\n";
  return line(columns.map((c) => c.name)) + rows.map((row) => line(columns.map((c) => c.value(row)))).join("");
}

// A spreadsheet takes a cell that begins with one of these characters for a formula. If a quote is
// put before the character, the spreadsheet shows the cell as text. -Infinity is a number, which JSON writes as a text. The
// function guardFormula of the command omnigraph does the same.
const formula = /^[=+\-@\t\r\n]/;

function csvCell(value: Json): string {
  if (value === null) {
    return "";
  }
  let text = typeof value === "string" ? value : writeJson(value);
  if (typeof value === "string" && formula.test(text) && text !== "-Infinity") {
    text = "'" + text;
  }
  return /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
}

/** Saves a file of the user. */
export function save(name: string, content: Blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name.replace(/[^\w.-]+/g, "-");
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
