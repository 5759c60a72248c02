/** What stands in for a word that few or no products have: hits that count as the word, and hits shown as guesses. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct } from '../../../support/data/catalog.ts';
import { call } from '../../../support/http/http.ts';
import { describeOnDatabases } from '../../../support/service/databases.ts';
import { startTestService, type TestService } from '../../../support/service/service.ts';

const boats = Array.from({ length: 7 }, (_, index) => `Boat ${'abcdefg'[index]}`);
const shop = [
  ...boats.map(name => ({ name, price: 1 })),
  ...[
    ...['Boot polish', 'Bratpfanne', 'Penne', 'Orangensaft', 'Soft cushion', 'Wanduhr', 'Laser', 'Trinkglas'],
    ...['Side table', 'Vegetable soup', 'LED Lampe', 'Handschuhe Leder', 'OLED TV', 'Powerbank 20,000 mAh'],
    ...['Oat drink', 'Rain hat', 'Hängematte', 'Kaffee', 'Apfelmus ohne Zucker', 'Waschmaschine', 'Olivenöl'],
    ...['Bag, olive', 'Cellar', 'Walnut shelf', 'Chopper AXT 25', 'Kameragurt', 'Schatz der Kammer'],
    ...['Dumbbells', 'Hex dumbbell', 'Ink', 'Stichsäge', 'Akkustichsäge', 'Akku'],
    ...['Brett 80x202', 'Kissen 40 × 120', 'Bolzen M8x40', 'Riegel M8 × 40', 'Mayonnaise', 'Name tag'],
  ].map(name => ({ name, price: 5 })),
  ...['External A', 'External B', 'External C', 'Extension'].map(name => ({ name, price: 5 })),
  { name: 'Tomatensuppe', price: 5, description: 'May contain milk' },
  { name: 'Nägel', price: 5, description: 'Für Hammer und Zange' },
  { name: 'Schlosserhammer', price: 5, description: 'Stahl, mit Stiel aus Esche' },
  { name: 'Spaltaxt', price: 5, description: 'Mit Klinge aus Stahl' },
];

interface Scenario {
  readonly query: string;
  /** The titles that have the word. */
  readonly whole?: readonly string[];
  /** The titles that follow as guesses: they lack the words that were guessed. */
  readonly guessed?: readonly string[];
}

const scenarios: readonly Scenario[] = [
  // An existing word is not a typo of another, however rare it is. Hits for the other word follow as guesses.
  { query: 'boot', whole: ['Boot polish'], guessed: boats },
  // A word at the end of a compound counts as the word. Similar spellings then do not.
  { query: 'pfanne', whole: ['Bratpfanne'] },
  { query: 'pfannen', whole: ['Bratpfanne'] },
  { query: 'saft', whole: ['Orangensaft'] },
  // Three letters at the end may be chance.
  { query: 'uhr', guessed: ['Wanduhr'] },
  // The end also counts where others have the word itself, if the first part is a word or the text is German.
  { query: 'hammer', whole: ['Nägel', 'Schlosserhammer'] },
  { query: 'axt', whole: ['Chopper AXT 25', 'Spaltaxt'] },
  { query: 'table', whole: ['Side table'], guessed: ['Vegetable soup'] },
  // A form of the word in only one of the languages is a guess where the word itself exists.
  { query: 'leder', whole: ['Handschuhe Leder'], guessed: ['LED Lampe'] },
  // Other spellings count as the word.
  { query: 'haengematten', whole: ['Hängematte'] },
  { query: 'tvs', whole: ['OLED TV'] },
  // With the same stem as another word, but a typo of a commoner one.
  { query: 'extenal', whole: ['External A', 'External B', 'External C'], guessed: ['Extension'] },
  // Forms of what a word is a typo of, but not what it looks like without its last letter.
  { query: 'dumbells', whole: ['Dumbbells', 'Hex dumbbell'] },
  { query: 'nike' },
  // Umlauts typed as two letters, also in compounds with the word.
  { query: 'stichsaege', whole: ['Stichsäge', 'Akkustichsäge'] },
  { query: '20000', whole: ['Powerbank 20,000 mAh'] },
  { query: '20000mah', whole: ['Powerbank 20,000 mAh'] },
  // A typo in the last part of a compound needs both parts.
  { query: 'raincoat', guessed: [] },
  // One typo counts as the word. Two are a guess, and so is another first letter.
  { query: 'orangensatf', whole: ['Orangensaft'] },
  { query: 'oragnensatf', guessed: ['Orangensaft'] },
  { query: 'tellar', guessed: ['Cellar'] },
  { query: 'seller', guessed: [] },
  { query: 'damen', guessed: [] },
  // Words that hits need not have: a price at the end, which only a filter applies, and `no`.
  { query: 'mayonnaise below 35', whole: ['Mayonnaise'] },
  { query: 'mayonnaise unter 19,99 euro', whole: ['Mayonnaise'] },
  { query: 'apfelmus no zucker', whole: ['Apfelmus ohne Zucker'] },
  // A whole word that begins another may also be a misspelling. Hits for the correct spelling follow as guesses.
  { query: 'kamer', whole: ['Kameragurt'], guessed: ['Schatz der Kammer'] },
  // Measures with a sign equal those with a letter. With the letter they may be any two numbers.
  { query: '80 × 202', whole: ['Brett 80x202'] },
  { query: '40x120', guessed: ['Kissen 40 × 120'] },
  { query: 'm8x40', whole: ['Bolzen M8x40'], guessed: ['Riegel M8 × 40'] },
  // A word before others may be short for a longer one, rather than one with a letter too many.
  { query: 'mayo glas', guessed: ['Mayonnaise', 'Tomatensuppe', 'Trinkglas'] },
  // A shared part is a guess: at least half the word at its beginning, and not a filler word like `ohne` in `bohnen`.
  { query: 'kaffeebohnen', guessed: ['Kaffee'] },
  { query: 'bohrmaschine', guessed: ['Waschmaschine'] },
  { query: 'softball', guessed: [] },
  { query: 'something', guessed: [] },
  // Two words that a product joins into one: that product has both, and other hits are guesses.
  { query: 'oliven öl', whole: ['Olivenöl'], guessed: ['Bag, olive'] },
];

describeOnDatabases('guesses at words on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
    for (const product of shop) await addProduct(service, product);
  });
  afterAll(() => service.stop());

  interface Hit {
    readonly title: string;
    readonly missing: readonly string[];
  }
  const search = async (query: string) => {
    const path = `/v1/search?perPage=100&q=${query}`;
    const { status, body } = await call(service, { path, as: 'user' });
    expect(status).toBe(200);
    const hits: readonly Hit[] = body.data;
    const titles = (isWhole: boolean) =>
      hits.filter(({ missing }) => (missing.length === 0) === isWhole).map(({ title }) => title);
    return { hits, whole: titles(true), guessed: titles(false), meta: body.meta };
  };

  test.each([...scenarios])('$query', async ({ query, whole = [], guessed = [] }) => {
    const found = await search(encodeURIComponent(query));
    expect(found.whole.sort()).toEqual([...whole].sort());
    expect(found.guessed.sort()).toEqual([...guessed].sort());
    // All titles in `whole` come first.
    expect(found.hits.slice(0, whole.length).every(({ missing }) => missing.length === 0)).toBe(true);
    expect(found.meta.relaxed !== undefined).toBe(whole.length === 0 && guessed.length > 0);
  });

  test('guesses are left out of other orders than relevance, and of facets, while something has the word', async () => {
    const sorted = await search('boot&sort=price&facets=price');
    expect(sorted.hits.map(({ title }) => title)).toEqual(['Boot polish']);
    const guesses = await search('uhr&sort=price');
    expect(guesses.guessed).toEqual(['Wanduhr']);
    expect(guesses.meta.relaxed).toEqual(['uhr']);
  });

  test('a longer word comes before a shorter one with a letter too many', async () => {
    const { hits } = await search('mayo%20milk');
    expect(hits.map(({ title }) => title)).toEqual(['Mayonnaise', 'Tomatensuppe']);
  });

  test('among several words, a guessed word counts as missing', async () => {
    const { hits, meta } = await search('saft%20kaffeebohnen');
    expect(meta.relaxed).toEqual(['kaffeebohnen']);
    expect(hits.map(({ title }) => title).sort()).toEqual(['Kaffee', 'Orangensaft']);
  });

  const corrections: [query: string, corrected: [word: string, as: string][]][] = [
    ['orangensaft', []],
    ['orangensatf', [['orangensatf', 'orangensaft']]],
    ['Oragnensatf', [['oragnensatf', 'orangensaft']]],
    [
      'Walnutt shlef',
      [
        ['walnutt', 'walnut'],
        ['shlef', 'shelf'],
      ],
    ],
    ['walnut shlef', [['shlef', 'shelf']]],
    // The best hit has the word itself, another form or spelling of it, or only a part.
    ['boot', []],
    ['shelves', []],
    ['haengematten', []],
    ['kaffeebohnen', []],
    ['extenal', [['extenal', 'external']]],
    ['kamer', []],
    ['something', []],
  ];
  test.each(corrections)('%s is shown with its corrections', async (query, expected) => {
    const path = `/v1/search?q=${encodeURIComponent(query)}`;
    const all = await call(service, { path, as: 'user' });
    const cheap = await call(service, { path: `${path}&facets=brand&maxPrice=100`, as: 'user' });
    for (const { body } of [all, cheap]) {
      const corrected = expected.map(([word, as]) => ({ word, as }));
      expect([query, body.meta.corrected ?? []]).toEqual([query, corrected]);
    }
  });
});
