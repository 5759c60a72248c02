/** How the names of a resource of several words are written: by hyphens, in code, as a table and in sentences. */
import jsTokens, { type Token } from 'js-tokens';
import { addArticle } from '../../src/resources/crud/index.ts';
import type { Names } from './names.ts';

/** `gift-cards` in each way that names of todos are written. */
export interface Forms {
  /** In paths, and in the names of files and migrations: as it was given. */
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

/** A text without code in it, where what stands for itself is written in this form. */
export function renameText(text: string, forms: Forms, form: Form): string {
  const alone = toWords(forms[form]);
  const within = toWords(forms.identifier);
  return text.replaceAll(
    /\ba todo\b|(\w*)([tT]odos?)(?=(\w*))/g,
    (all, before?: string, word = '', after = '') => {
      if (before === undefined) return alone.get(all) ?? all;
      // `todosLimit` is code wherever it stands; an index, as `todos_by_user`, is called like its table.
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

/** The same code of the new resource. */
export function renameCode(code: string, forms: Forms): string {
  let renamed = '';
  let before = '';
  /** What stands before the templates that have begun. */
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

/** @param before what stands before it, or before the template that it is part of, but for spaces */
function findForm({ type, value }: Token, before: string): Form {
  switch (type) {
    case 'StringLiteral':
      if (/[./-]/.test(value) && !value.includes(' ')) return 'path';
      if (value === "'todos'") return before === '[' ? 'path' : 'table';
      // The id of a schema; that of a group of operations, 'Todos', is for people.
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
