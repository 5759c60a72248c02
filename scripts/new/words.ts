/** Words that cannot name a resource: reserved words of languages, and names used in code or in the interface. */
import { Database } from 'bun:sqlite';
import { runInNewContext } from 'node:vm';
import { capitalize, type Form, type Forms, renameText } from './forms.ts';
import { Refused } from './names.ts';

/** Includes the reserved words of strict mode and of modules. */
const reserved = new Set(
  `arguments await break case catch class const continue debugger default delete do else enum eval export extends false
  finally for function if implements import in instanceof interface let new null package private protected public return
  static super switch this throw true try typeof var void while with yield`.split(/\s+/),
);

/** Words that PostgreSQL refuses as a table name; for SQLite, a table is tried. */
const reservedInPostgres = new Set(
  `all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate collation column
  concurrently constraint create cross default deferrable desc distinct do else end except false fetch for foreign freeze
  from full grant group having ilike in initially inner intersect into is isnull join lateral leading left like limit
  localtime localtimestamp natural not notnull null offset on only or order outer overlaps placing primary references
  returning right select similar some symmetric table tablesample then to trailing true union unique user using variadic
  verbose when where window with`.split(/\s+/),
);

/** @throws Refused (1) if one of the names is reserved by a language */
export function checkLanguages({ path, identifier, table }: Forms): void {
  const builtIn: unknown = runInNewContext('Object.getOwnPropertyNames(globalThis)');
  const globals = new Set(Array.isArray(builtIn) ? builtIn : []);
  for (const number of ['plural', 'singular'] as const) {
    const word = identifier[number];
    const said = number === 'plural' ? `"${word}"` : `"${word}", the singular of "${path.plural}",`;
    if (reserved.has(word)) throw new Refused(1, `${said} is a reserved word of TypeScript`);
    if (word in Object.prototype) throw new Refused(1, `${said} is a member of every object of JavaScript`);
    const global = [word, capitalize(word)].find(name => globals.has(name));
    if (global !== undefined) throw new Refused(1, `${said} is taken: JavaScript has a global ${global}`);
  }
  const language = reservedInPostgres.has(table.plural)
    ? 'PostgreSQL'
    : isReservedInSqlite(table.plural)
      ? 'SQLite'
      : undefined;
  if (language !== undefined) {
    const said = `"${table.plural}" would be the name of a table, and is a reserved word of ${language}`;
    throw new Refused(1, said);
  }
}

function isReservedInSqlite(word: string): boolean {
  using database = new Database(':memory:');
  try {
    database.run(`create table ${word} (id integer)`);
    return false;
  } catch {
    return true;
  }
}

/** The names used in one place, including those of todos. */
export interface Place {
  /** The beginning of an error about a name, as in "src/resources/stores.ts has a name". */
  readonly has: string;
  readonly words: Iterable<string>;
  /** The form of the names in this place. */
  readonly form: Form;
}

/** @throws Refused (1) if a name derived from one of todos already exists */
export function checkPlace({ has, words, form }: Place, forms: Forms): void {
  const all = new Set(words);
  const made = new Set<string>();
  for (const word of all) {
    if (!/[tT]odo/.test(word)) continue;
    const name = renameText(word, forms, form);
    const given = /[tT]odos/.test(word) ? forms.path.plural : forms.path.singular;
    if (all.has(name)) throw new Refused(1, `"${given}" is taken: ${has} ${name}`);
    if (made.has(name))
      throw new Refused(1, `"${given}" cannot be both plural and singular: ${has} ${name} then`);
    made.add(name);
  }
}

/** The names in code, without comments and strings. */
export function namesIn(code: string): string[] {
  return bare(code).match(/[A-Za-z_$][\w$]*/g) ?? [];
}

/** The same without members, whose names cannot conflict. */
export function variablesIn(code: string): string[] {
  return bare(code).match(/(?<![\w$.])[A-Za-z_$][\w$]*(?![\w$]|\??:)/g) ?? [];
}

const bare = (code: string): string =>
  code.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$|'(?:[^'\\\n]|\\.)*'|`[^`]*`/gm, "''");
