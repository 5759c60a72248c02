/** English words that are spelt in two ways: a shop says `moisturiser` or `moisturizer`, and shoppers search for both. */

/** British, American, of words as they begin: their forms follow them. */
const pairs = [
  ...[
    'arm',
    'behavi',
    'col',
    'endeav',
    'fav',
    'flav',
    'glam',
    'harb',
    'hon',
    'hum',
    'lab',
    'neighb',
    'od',
    'parl',
  ],
  ...['rum', 'sav', 'tum', 'vap', 'vig'],
].map(start => [`${start}our`, `${start}or`] as const);
const others: readonly (readonly [string, string])[] = [
  ['aeroplane', 'airplane'],
  ['aluminium', 'aluminum'],
  ['catalogue', 'catalog'],
  ['centre', 'center'],
  ['cosy', 'cozy'],
  ['defence', 'defense'],
  ['doughnut', 'donut'],
  ['fibre', 'fiber'],
  ['grey', 'gray'],
  ['jewellery', 'jewelry'],
  ['litre', 'liter'],
  ['mould', 'mold'],
  ['orthopaedic', 'orthopedic'],
  ['plough', 'plow'],
  ['pyjama', 'pajama'],
  ['theatre', 'theater'],
  ['traveller', 'traveler'],
  ['travelling', 'traveling'],
  ['tyre', 'tire'],
  ['yoghurt', 'yogurt'],
];
const all = [...pairs, ...others];
const british = new Map(all);
const american = new Map(all.map(([one, other]) => [other, one]));
const toPattern = (words: Iterable<string>) => new RegExp(`^(?:${[...words].join('|')})`);
const startsBritish = toPattern(british.keys());
const startsAmerican = toPattern(american.keys());
/** Longer than `rise` and `prize`, which have no other spelling. */
const endsBritish = /^(.{4,})is(e[ds]?|ers?|ings?|ations?)$/;
const endsAmerican = /^(.{4,})iz(e[ds]?|ers?|ings?|ations?)$/;

/** The word in its American spelling, by which the forms of both are compared. */
export const toAmerican = (word: string): string =>
  word.replace(startsBritish, start => british.get(start) ?? start).replace(endsBritish, '$1iz$2');

/** Whether it is no word that has an American spelling besides. */
export const isAmerican = (word: string): boolean => toAmerican(word) === word;

/** The word in the other spelling, if it has one. */
export function findOtherSpelling(word: string): string | undefined {
  const spelt = toAmerican(word);
  const other =
    spelt === word
      ? word.replace(startsAmerican, start => american.get(start) ?? start).replace(endsAmerican, '$1is$2')
      : spelt;
  return other === word ? undefined : other;
}
