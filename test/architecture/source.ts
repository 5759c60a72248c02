/** The files that the architecture rules check, as text, comments, code and tokens. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Glob } from 'bun';
import jsTokens from 'js-tokens';

const root = join(import.meta.dir, '..', '..');

const texts = new Map<string, string>();

export function read(path: string): string {
  const known = texts.get(path);
  if (known !== undefined) return known;
  const text = readFileSync(join(root, path), 'utf8');
  texts.set(path, text);
  return text;
}

export const filesOf = (...patterns: string[]): string[] =>
  patterns
    .flatMap(pattern => [...new Glob(pattern).scanSync({ cwd: root, dot: true })])
    .filter(path => !path.includes('node_modules'))
    .sort();

/** The files of the program. */
export const files: readonly string[] = filesOf('src/**/*.ts');

export const within = (folder: string) => (path: string) => path.startsWith(`src/${folder}/`);

export interface Token {
  readonly type: string;
  readonly value: string;
  /** The line it begins on, counted from one. */
  readonly line: number;
}

/** All tokens of a text, including white space and comments. */
export function tokensOf(text: string): Token[] {
  let line = 1;
  return [...jsTokens(text)].map(({ type, value }) => {
    const token = { type, value, line };
    for (let at = value.indexOf('\n'); at >= 0; at = value.indexOf('\n', at + 1)) line += 1;
    return token;
  });
}

const tokens = new Map<string, readonly Token[]>();

/** The tokens of a file. Tokenizing is exact, but the slow part of these tests; `commentsOf` does without. */
export function tokensIn(path: string): readonly Token[] {
  const found = tokens.get(path) ?? tokensOf(read(path));
  tokens.set(path, found);
  return found;
}

const comments = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm;
const blank = (text: string) => text.replaceAll(/[^\n]/g, ' ');

export interface Comment {
  readonly text: string;
  /** The line it begins on, counted from one. */
  readonly line: number;
}

/** The comments of a text; consecutive line comments count as one. */
export function commentsOf(text: string): Comment[] {
  const found: { text: string; line: number; last: number }[] = [];
  let at = { index: 0, line: 1 };
  for (const { 0: comment, index } of text.matchAll(comments)) {
    const before = found.at(-1);
    const line = at.line + lineAt(text.slice(at.index, index), index) - 1;
    at = { index, line };
    if (before?.last === line - 1 && comment.startsWith('//')) {
      before.text += `\n${comment}`;
      before.last = line;
    } else found.push({ text: comment, line, last: line + comment.split('\n').length - 1 });
  }
  return found;
}

export function lineAt(text: string, index: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < index; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}

/** The text without comments, on the same lines. Strings are kept, because they include the paths of imports. */
export const codeIn = (path: string): string => read(path).replaceAll(comments, blank);

const bareCode = new Map<string, string>();

/** The code with empty strings and regular expressions: names and punctuation remain, on the same lines. */
export function bareCodeIn(path: string): string {
  const found = bareCode.get(path) ?? bareCodeOf(tokensIn(path));
  bareCode.set(path, found);
  return found;
}

const bareCodeOf = (all: readonly Token[]): string =>
  all
    .map(({ type, value }) => {
      if (type.endsWith('Comment') || type === 'RegularExpressionLiteral') return blank(value);
      if (type !== 'StringLiteral' && !type.includes('Template')) return value;
      return `${value.at(0)}${blank(value.slice(1, -1))}${value.at(-1)}`;
    })
    .join('');

/** The matches of a rule's pattern: path, line, and matching text. */
export function findings(
  paths: readonly string[],
  textOf: (path: string) => string,
  wrong: RegExp,
): string[] {
  return paths.flatMap(path => {
    const text = textOf(path);
    return [...text.matchAll(wrong)].map(
      ({ 0: found, index }) => `${path}:${lineAt(text, index)}: ${found.trim()}`,
    );
  });
}
