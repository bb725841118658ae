// Text of the graph. Agents write it, so the studio shows it as text and never as HTML. It makes
// characters visible that could hide parts of the text or change their order.

import type { ComponentChildren } from "preact";

// Characters without a visible shape, such as control and format characters, but not tab and line feed.
// Also surrogates that do not form a pair.
const invisible =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}\ud800-\udfff]/gu;

const names: Record<number, string> = {
  0x00ad: "soft hyphen",
  0x061c: "Arabic letter mark",
  0x200b: "zero width space",
  0x200c: "zero width non-joiner",
  0x200d: "zero width joiner",
  0x200e: "left-to-right mark",
  0x200f: "right-to-left mark",
  0x202a: "left-to-right embedding",
  0x202b: "right-to-left embedding",
  0x202c: "pop directional formatting",
  0x202d: "left-to-right override",
  0x202e: "right-to-left override",
  0x2060: "word joiner",
  0x2066: "left-to-right isolate",
  0x2067: "right-to-left isolate",
  0x2068: "first strong isolate",
  0x2069: "pop directional isolate",
  0xfeff: "byte order mark",
};

/** The longest text that is shown without a click, in UTF-16 units. */
const shown = 2000;

/** Cuts a text without dividing a surrogate pair. */
export function cut(text: string, most: number): string {
  if (text.length <= most) {
    return text;
  }
  const high = text.charCodeAt(most - 1);
  return text.slice(0, high >= 0xd800 && high < 0xdc00 ? most - 1 : most);
}

/** Reports whether a text has no invisible character. */
export function isVisible(text: string): boolean {
  return text.search(invisible) < 0;
}

/**
 * Replaces each invisible character with its code point, for places that cannot have elements, such as titles and
 * the texts of options. It cuts a long text.
 */
export function visible(text: string, most = 400): string {
  return cut(text, most).replace(invisible, (c) => `[${codeOf(c)}]`) + (text.length > most ? "…" : "");
}

function codeOf(character: string): string {
  return "U+" + (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
}

/** Replaces each invisible character with a visible mark that shows the character's code point. */
export function marked(text: string): ComponentChildren[] {
  const parts: ComponentChildren[] = [];
  let end = 0;
  for (const match of text.matchAll(invisible)) {
    parts.push(text.slice(end, match.index));
    const code = match[0].codePointAt(0) ?? 0;
    parts.push(
      <span class="invisible" title={names[code] ?? "invisible character"}>
        {codeOf(match[0])}
      </span>,
    );
    end = match.index + match[0].length;
  }
  parts.push(text.slice(end));
  return parts;
}

/**
 * Shows a text. The text becomes a link if all of it is an http or https address. A long text is cut,
 * and the user can open the rest. With `plain`, for the text of a link or a button, the text is only cut.
 */
export function Text(props: { value: string; most?: number; plain?: boolean }) {
  const { value, most = shown, plain = false } = props;
  if (plain) {
    return (
      <bdi class="text" dir="auto">
        {marked(cut(value, most))}
        {value.length > most && "…"}
      </bdi>
    );
  }
  if (value.length > most) {
    return (
      <bdi class="text" dir="auto">
        {marked(cut(value, most))}
        <details class="more">
          <summary>… {sizeOf(value)} in all</summary>
          <Rest value={value.slice(cut(value, most).length)} />
        </details>
      </bdi>
    );
  }
  const address = webAddress(value);
  return (
    <bdi class="text" dir="auto">
      {address ? (
        <a href={address} rel="noreferrer noopener" target="_blank">
          {marked(value)}
        </a>
      ) : (
        marked(value)
      )}
    </bdi>
  );
}

// The length of a page of text, in UTF-16 units. A browser is slow at showing longer texts.
const pageLength = 100_000;

// Shows a text in pages. Each page contains the next one, which stays closed until the user opens it,
// so that the browser spends time only on open pages.
function Rest(props: { value: string }) {
  const first = cut(props.value, pageLength);
  const rest = props.value.slice(first.length);
  return (
    <>
      {marked(first)}
      {rest && (
        <details class="more">
          <summary>… {sizeOf(rest)} more</summary>
          <Rest value={rest} />
        </details>
      )}
    </>
  );
}

/** Returns the text if all of it is an address to which the studio may link, otherwise null. */
function webAddress(text: string): string | null {
  if (!/^https?:\/\/[^\s]+$/i.test(text) || !isVisible(text)) {
    return null;
  }
  try {
    const parsed = new URL(text);
    return parsed.protocol === "http:" || parsed.protocol === "https:" ? parsed.href : null;
  } catch {
    return null;
  }
}

/** Describes the length of a text. */
function sizeOf(text: string): string {
  const bytes = new Blob([text]).size;
  return bytes < 10_000 ? bytes + " bytes" : bytes < 1_000_000 ? Math.round(bytes / 1000) + " kB" : (bytes / 1_000_000).toFixed(1) + " MB";
}

/** Formats a moment that is given in microseconds since 1970. */
export function Moment(props: { micros: number }) {
  const text = new Date(props.micros / 1000).toISOString();
  return <time dateTime={text}>{text.slice(0, 19).replace("T", " ")} UTC</time>;
}

/** Who did something: an actor, and the agents that acted for it. */
interface Done {
  actor_id: string | null;
  agents?: string[];
}

/** Names who did something, with the agents, or null if that is not known. */
export function actorOf(done: Done): string | null {
  return done.actor_id && [done.actor_id, ...(done.agents ?? [])].join(" via ");
}

/** Shows who did something. Without a name, it is an unknown actor. */
export function Actor(props: { of: Done; first?: boolean }) {
  const name = actorOf(props.of);
  return name ? <Text value={name} /> : <>{props.first ? "An" : "an"} unknown actor</>;
}
