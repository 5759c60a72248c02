/** The names that `npm run new` derives from NAME and SINGULAR, and those it refuses. test/long/ tests its files. */
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { namesOf, Refused } from '../../scripts/new/names.ts';
import { planResource } from '../../scripts/new/resource.ts';

const root = join(import.meta.dir, '../..');

const plan = (words: string) => planResource(root, namesOf(words === '' ? [] : words.split(' ')));

/** The exit status of the program, and its message. */
function refusal(words: string): [status: number, message: string] {
  try {
    plan(words);
  } catch (error) {
    if (error instanceof Refused) return [error.status, error.message];
    throw error;
  }
  return [0, ''];
}

const noName = 'is not a name: names are lower-case letters, with a hyphen between words';

test.each([
  ['notes', 'note'],
  ['gift-cards', 'gift-card'],
  ['price-lists-of-series series', 'series'],
  ['tea-boxes', 'tea-box'],
  ['ideas', 'idea'],
  ['houses house', 'house'],
  ['shelves shelf', 'shelf'],
  ['people person', 'person'],
  ['replies', 'reply'],
  ['movies', 'movie'],
  ['classes', 'class'],
  ['boxes', 'box'],
  ['waltzes', 'waltz'],
  ['sizes', 'size'],
  ['batches', 'batch'],
  ['coaches', 'coach'],
  ['brushes', 'brush'],
])('the singular of %s is %s', (words, singular) => {
  expect(namesOf(['resource', ...words.split(' ')]).singular).toBe(singular);
});

test.each([
  ['', 'resource NAME is missing'],
  ['table notes', 'a "table" cannot be created; only a resource can'],
  ['resource', 'NAME is missing'],
  ['resource notes note more', '"more" is one argument too many'],
  ['resource ../notes', `"../notes" ${noName}, as in notes`],
  ['resource price_lists', `"price_lists" ${noName}, as in price-lists`],
  ['resource priceLists', `"priceLists" ${noName}, as in price-lists`],
  ['resource price--lists', `"price--lists" ${noName}, as in price-lists`],
  ['resource -lists', `"-lists" ${noName}, as in lists`],
  ['resource lists-', `"lists-" ${noName}, as in lists`],
  ['resource notes Note', `"Note" ${noName}, as in note`],
  [
    'resource tea-leaves',
    'the singular of "tea-leaves" may be tea-leave, tea-leaf or tea-leafe: name it too, as in ',
  ],
  ['resource as', '"as" has fewer than 3 letters'],
  [`resource ${'e'.repeat(31)}s`, `"${'e'.repeat(31)}s" has more than 31 letters`],
  ['resource note', '"note" does not end in s: if it is a plural, name its singular too, as in '],
  ['resource data', '"data" does not end in s: if it is a plural, name its singular too, as in '],
  ['resource glass', '"glass" ends in ss: if it is a plural, name its singular too, as in '],
  ['resource shelves', 'the singular of "shelves" may be shelve, shelf or shelfe: name it too, as in '],
  ['resource statuses', 'the singular of "statuses" may be statuse or status: name it too, as in '],
  ['resource caches', 'the singular of "caches" may be cache or cach: name it too, as in '],
  ['resource series', 'the singular of "series" may be serie or series: name it too, as in '],
  ['resource menus', 'the singular of "menus" may be menu or menus: name it too, as in '],
])('%s: the command line is wrong', (words, message) => {
  const [status, said] = refusal(words);
  expect([status, said.slice(0, message.length)]).toEqual([2, message]);
  expect(said).toBe(message.endsWith('as in ') ? `${message}npm run new -- ${words} SINGULAR` : message);
});

test.each([
  ['returns', '"return", the singular of "returns", is a reserved word of TypeScript'],
  ['news', '"new", the singular of "news", is a reserved word of TypeScript'],
  ['promises promise', '"promise", the singular of "promises", is taken: JavaScript has a global Promise'],
  [
    'constructors',
    '"constructor", the singular of "constructors", is a member of every object of JavaScript',
  ],
  ['references', '"references" would be the name of a table, and is a reserved word of PostgreSQL'],
  ['values', '"values" would be the name of a table, and is a reserved word of SQLite'],
  ['todos', '"todos" is taken: there is a folder src/resources/todos'],
  ['sessions', '"sessions" is taken: src/storage/tables.ts has a table sessions'],
  ['deliveries', '"deliveries" is taken: src/storage/tables.ts has a table deliveries'],
  ['addresses', '"addresses" is taken: src/storage/migrations/index.ts has a name addresses'],
  ['tokens', '"tokens" is taken: src/resources/stores.ts has a name tokens'],
  ['facets', '"facets" is taken: src/resources/stores.ts has a name facets'],
  ['passwords', '"passwords" is taken: src/resources/stores.ts has a name passwords'],
  ['reports', '"reports" is taken: src/resources/stores.ts has a name reports'],
  ['wishes order', '"order" is taken: src/resources/stores.ts has a name createOrderStore'],
  ['webhooks', '"webhooks" is taken: openapi.json has the path /v1/webhooks'],
  ['people me', '"me" is taken: openapi.json has the operation getMe'],
  ['links', '"link" is taken: openapi.json has the schema Link'],
  ['rows', '"rows" is taken: src/resources/todos/endpoints.ts has a name rows'],
  ['titles', '"title" is taken: src/resources/todos/schema.ts has a name title'],
  ['sweeps', '"sweeps" is taken: there is a file test/resources/sweeps.test.ts'],
  ['to-strings', '"toString", the singular of "to-strings", is a member of every object of JavaScript'],
  ['media-uses media-use', '"media-uses" is taken: src/storage/tables.ts has a table media_uses'],
  ['api-keys', '"api-keys" is taken: src/storage/tables.ts has a table api_keys'],
  ['mail-tokens', '"mail-tokens" is taken: src/resources/stores.ts has a name mailTokens'],
])('%s: the name is taken or reserved', (words, message) => {
  expect(refusal(`resource ${words}`)).toEqual([1, message]);
});

test('each file is planned once, with the names of the resource', () => {
  const files = plan('resource ideas');
  expect([...files.keys()].map(path => path.replace(/\d{4}/, 'N'))).toEqual([
    'src/resources/ideas/schema.ts',
    'src/resources/ideas/endpoints.ts',
    'src/resources/ideas/store.ts',
    'src/storage/migrations/N-expand-ideas.ts',
    'test/resources/ideas.test.ts',
    'src/storage/migrations/index.ts',
    'src/storage/tables.ts',
    'src/resources/index.ts',
    'src/resources/stores.ts',
    'src/http/openapi/text.ts',
    'src/cli/copy/tables.ts',
  ]);
  const endpoints = files.get('src/resources/ideas/endpoints.ts');
  expect(endpoints).toContain("summary: 'Create an idea'");
  expect(endpoints).toContain("title: 'The first idea'");
  const tables = files.get('src/storage/tables.ts');
  expect(tables).toContain(
    '\n  ideas: {\n    id: Generated<number>;\n    user_id: number;\n    title: string;\n',
  );
  for (const path of [...files.keys()].slice(0, 5)) expect(files.get(path)).not.toMatch(/todo|lamps/i);
});

test('a name of several words has hyphens in paths and files, and the usual spelling in code, tables and sentences', () => {
  const files = plan('resource gift-cards');
  const textOf = (path: string) => {
    const [, text = ''] = [...files].find(([name]) => name.replace(/\d{4}/, 'N') === path) ?? [];
    return text;
  };
  const endpoints = textOf('src/resources/gift-cards/endpoints.ts');
  for (const line of [
    "const path = '/gift-cards';",
    "tag: 'Gift cards'",
    "placeOf: ({ id }) => ['gift-cards', id],",
    "name: 'gift card',\n    id: 'GiftCard',",
    "operationId: 'listGiftCards'",
    "summary: 'Create a gift card'",
    'giftCardsLimit} gift cards; delete some',
    "requireFound('gift card', id, await giftCards.find(",
  ])
    expect(endpoints).toContain(line);
  expect(textOf('src/resources/gift-cards/schema.ts')).toContain(".meta({ id: 'GiftCard' });");
  expect(textOf('src/resources/gift-cards/store.ts')).toContain("build.selectFrom('gift_cards')");
  const migration = textOf('src/storage/migrations/N-expand-gift-cards.ts');
  expect(migration).toMatch(/export const giftCards: Migration = \{\n {2}name: '\d{4}-expand-gift-cards',/);
  expect(migration).toContain('create table gift_cards (');
  expect(migration).toContain('create index gift_cards_by_user on gift_cards (user_id, id)');
  expect(textOf('src/storage/tables.ts')).toContain('\n  gift_cards: {\n');
  expect(textOf('src/resources/stores.ts')).toContain("from './gift-cards/store.ts';");
  expect(textOf('src/resources/stores.ts')).toContain('\n    giftCards: createGiftCardStore(database),\n');
  expect(textOf('src/http/openapi/text.ts')).toContain("\n  'Gift cards': '");
  expect(textOf('test/resources/gift-cards.test.ts')).toContain("path: '/v1/gift-cards'");
});

test.each([['--help'], ['resource --help'], ['resource -h notes']])(
  '%s shows the help and writes nothing',
  words => {
    const program = join(root, 'scripts', 'new.ts');
    const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, program, ...words.split(' ')]);
    expect([exitCode, stderr.toString()]).toEqual([0, '']);
    expect(stdout.toString()).toStartWith('Usage: npm run new -- resource NAME [SINGULAR]\n');
  },
);
