/** The functions of a source file as the formatter lays them out: a body ends with a brace where its head began. */

export interface FunctionLines {
  /** The line it begins on, counted from one. */
  readonly line: number;
  readonly name: string;
  /** Its lines without those of the functions inside it. */
  readonly own: number;
}

const control = /^\s*(\} )?(else )?(if|for|while|switch|catch|do|try|else)\b/;
const oneLine = /(=> \{|\bfunction\b.*\{|^\s*((async|get|set|static) |\*)*[\w$]+(<.*>)?\(.*\)(: .*)? \{)$/;
const indentOf = (line: string): number => line.length - line.trimStart().length;

export function functionsOf(text: string): FunctionLines[] {
  const lines = text.split('\n');
  const spans = lines.flatMap((line, index) => {
    const start = headOf(lines, index);
    if (start === undefined) return [];
    const indent = indentOf(line);
    const end = lines.findIndex(
      (other, at) => at > index && indentOf(other) === indent && /^\s*\}/.test(other),
    );
    return end < 0 ? [] : [{ start, end }];
  });
  return spans.map(({ start, end }) => {
    const inside = spans.filter(other => other.start > start && other.end <= end);
    const outermost = inside.filter(a => !inside.some(b => b.start < a.start && b.end >= a.end));
    const nested = outermost.reduce((sum, other) => sum + other.end - other.start + 1, 0);
    return { line: start + 1, name: (lines[start] ?? '').trim(), own: end - start + 1 - nested };
  });
}

/** Where the head of the function begins whose body begins at the end of this line; undefined when none does. */
function headOf(lines: readonly string[], index: number): number | undefined {
  const line = lines[index] ?? '';
  if (!line.endsWith('{') || control.test(line)) return undefined;
  if (!/^\s*\)/.test(line)) return oneLine.test(line) ? index : undefined;
  const indent = indentOf(line);
  let start = index - 1;
  while (start > 0 && (indentOf(lines[start] ?? '') > indent || (lines[start] ?? '') === '')) start -= 1;
  return control.test(lines[start] ?? '') ? undefined : start;
}
