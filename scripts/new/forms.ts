/** The forms of a resource name of several words: with hyphens, in code, as a table and in sentences. */
import jsTokens, { type Token } from 'js-tokens';
import { addArticle } from '../../src/resources/crud/index.ts';
import type { Names } from './names.ts';

/** The forms of a name such as `gift-cards`, for each place where todos are named. */
export interface Forms {
  /** In paths and in the names of files and migrations: as given. */
  readonly path: Names;
  /** In code: `giftCards`. */
  readonly identifier: Names;
  /** In the database: `gift_cards`. */
  readonly table: Names;
  /** In sentences: `gift cards`. */
  readonly phrase: Names;
}

export type Form = keyof Forms;

const map = ({ plural, singular }: Names, write: (name: string) => string): Names => ({
  plural: write(plural),
  singular: write(singular),
});

export const toForms = (names: Names): Forms => ({
  path: names,
  identifier: map(names, name => name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())),
  table: map(names, name => name.replaceAll('-', '_')),
  phrase: map(names, name => name.replaceAll('-', ' ')),
});

export const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Renames todos in a text without code; names within longer identifiers take the form of code. */
export function renameText(text: string, forms: Forms, form: Form): string {
  const alone = toWords(forms[form]);
  const within = toWords(forms.identifier);
  return text.replaceAll(
    /\ba todo\b|(\w*)([tT]odos?)(?=(\w*))/g,
    (all, before?: string, word = '', after = '') => {
      if (before === undefined) return alone.get(all) ?? all;
      // `todosLimit` is code even in a text; an index such as `todos_by_user` is named like its table.
      const isAlone = before === '' && (after === '' || (form === 'table' && after.startsWith('_')));
      return `${before}${(isAlone ? alone : within).get(word) ?? word}`;
    },
  );
}

const toWords = ({ plural, singular }: Names): ReadonlyMap<string, string> =>
  new Map([
    ['todos', plural],
    ['Todos', capitalize(plural)],
    ['todo', singular],
    ['Todo', capitalize(singular)],
    ['a todo', addArticle(singular)],
  ]);

/** Renames todos in code. */
export function renameCode(code: string, forms: Forms): string {
  let renamed = '';
  let before = '';
  /** The token before each open template. */
  const tags: string[] = [];
  for (const token of jsTokens(code)) {
    if (token.type === 'TemplateHead') tags.push(before);
    const tag = /^Template/.test(token.type) ? tags.at(-1) : before;
    if (token.type === 'TemplateTail') tags.pop();
    renamed += renameText(token.value, forms, findForm(token, tag ?? ''));
    if (!/^(WhiteSpace|LineTerminatorSequence)$/.test(token.type)) before = token.value;
  }
  return renamed;
}

/** @param before the token before this one, or before the template that it is part of, ignoring white space */
function findForm({ type, value }: Token, before: string): Form {
  switch (type) {
    case 'StringLiteral':
      if (/[./-]/.test(value) && !value.includes(' ')) return 'path';
      if (value === "'todos'") return before === '[' ? 'path' : 'table';
      // The id of a schema; 'Todos', the name of a group of operations, is for people.
      return value === "'Todo'" ? 'identifier' : 'phrase';
    case 'NoSubstitutionTemplate':
    case 'TemplateHead':
    case 'TemplateMiddle':
    case 'TemplateTail':
      return before === 'sql' ? 'table' : 'phrase';
    case 'MultiLineComment':
    case 'SingleLineComment':
      return 'phrase';
    default:
      return 'identifier';
  }
}
