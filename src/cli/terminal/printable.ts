/** Makes text from outside safe for a line of terminal output. */

/**
 * Characters that a terminal obeys instead of showing, or that make one line look like another: control characters
 * (C0, DEL, C1), line and paragraph separators, and those that change the direction of text.
 */
const unprintable = /[\p{Cc}\u2028\u2029\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;

const shortEscapes: Readonly<Record<string, string>> = {
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\f': '\\f',
  '\r': '\\r',
};

/** The text on one line, with unprintable characters escaped as in JSON. */
export function escapeUnprintable(text: string): string {
  return text.replace(
    unprintable,
    character => shortEscapes[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
