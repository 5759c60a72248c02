/** The name of a new resource: NAME and SINGULAR of the command line; the singular is derived from NAME if possible. */

export interface Names {
  readonly plural: string;
  readonly singular: string;
}

/** The reason for writing nothing; status 2 for a wrong command line, 1 for a name that is taken. */
export class Refused extends Error {
  readonly status: 1 | 2;

  constructor(status: 1 | 2, message: string) {
    super(message);
    this.status = status;
  }
}

/** @throws Refused (2) if the arguments do not name a resource, or are ambiguous */
export function namesOf(args: readonly string[]): Names {
  const [kind, plural, singular, extra] = args;
  if (kind !== 'resource') {
    throw new Refused(
      2,
      kind === undefined ? 'resource NAME is missing' : `a "${kind}" cannot be created; only a resource can`,
    );
  }
  if (plural === undefined) throw new Refused(2, 'NAME is missing');
  if (extra !== undefined) throw new Refused(2, `"${extra}" is one argument too many`);
  checkLetters(plural, 3);
  if (singular !== undefined) checkLetters(singular, 2);
  return { plural, singular: singular ?? singularOf(plural) };
}

function checkLetters(word: string, least: number): void {
  if (!/^[a-z]+(-[a-z]+)*$/.test(word)) {
    const words = word.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase();
    const letters = words.replaceAll(/[^a-z]+/g, '-').replaceAll(/^-|-$/g, '');
    const instead = letters.length < least ? '' : `, as in ${letters}`;
    throw new Refused(
      2,
      `"${word}" is not a name: names are lower-case letters, with a hyphen between words${instead}`,
    );
  }
  if (word.length < least) throw new Refused(2, `"${word}" has fewer than ${least} letters`);
  if (word.length > 31) throw new Refused(2, `"${word}" has more than 31 letters`);
}

function singularOf(plural: string): string {
  const again = `npm run new -- resource ${plural}`;
  if (!/[^s]s$/.test(plural)) {
    const ending = plural.endsWith('s') ? 'ends in ss' : 'does not end in s';
    throw new Refused(
      2,
      `"${plural}" ${ending}: if it is a plural, name its singular too, as in ${again} SINGULAR`,
    );
  }
  const last = plural.slice(plural.lastIndexOf('-') + 1);
  const before = plural.slice(0, plural.length - last.length);
  const [singular = '', ...others] = singularsOf(last).map(word => `${before}${word}`);
  if (others.length > 0) {
    const choice = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format([singular, ...others]);
    throw new Refused(
      2,
      `the singular of "${plural}" may be ${choice}: name it too, as in ${again} SINGULAR`,
    );
  }
  return singular;
}

/** The possible singulars: several if the ending is ambiguous, as in houses, statuses, curves, shelves and knives. */
function singularsOf(plural: string): string[] {
  const [short, shorter] = [plural.slice(0, -1), plural.slice(0, -2)];
  const stem = plural.slice(0, -3);
  if (/^(series|species)$/.test(plural)) return [short, plural];
  if (/(^.|^mov|^cook|^zomb|calor)ies$/.test(plural)) return [short];
  if (plural.endsWith('ies')) return [`${stem}y`];
  if (plural.endsWith('ves')) return [short, `${stem}f`, `${stem}fe`];
  if (plural.endsWith('zzes')) return [shorter, stem];
  if (/[aeiou]zes$/.test(plural)) return [short];
  if (/(^|[^aeiou])aches$/.test(plural)) return [short, shorter];
  if (/(ss|x|z|ch|sh)es$/.test(plural)) return [shorter];
  if (/[so]es$/.test(plural)) return [short, shorter];
  if (/[iu]s$/.test(plural)) return [short, plural];
  return [short];
}
