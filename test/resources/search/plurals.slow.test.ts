/** Plurals whose end is not that of the singular and a letter more, in languages that the shop has chosen. */
import { expect, test } from 'bun:test';
import { addProduct } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService } from '../../support/service/service.ts';

/** The language, and words that are forms of each other. A shop has products with either form. */
const languages: readonly (readonly [language: string, ...pairs: (readonly [string, string])[]])[] = [
  ['es', ['altavoz', 'altavoces'], ['luz', 'luces'], ['lápiz', 'lápices'], ['dulce', 'dulces']],
  ['fr', ['jeu', 'jeux'], ['bijou', 'bijoux'], ['vitrail', 'vitraux'], ['rideau', 'rideaux']],
  ['it', ['lago', 'laghi'], ['banco', 'banchi']],
  [
    'nl',
    ['laars', 'laarzen'],
    ['doos', 'dozen'],
    ['brief', 'brieven'],
    ['fles', 'flessen'],
    ['kaars', 'kaarsen'],
  ],
  [
    'pt',
    ...([
      ['colchão', 'colchões'],
      ['pão', 'pães'],
      ['mão', 'mãos'],
      ['jornal', 'jornais'],
      ['papel', 'papéis'],
      ['funil', 'funis'],
      ['portátil', 'portáteis'],
      ['lençol', 'lençóis'],
      ['azul', 'azuis'],
      ['jardim', 'jardins'],
    ] as const),
  ],
];

describeOnDatabases('plurals on %s', kind => {
  test.each(languages)('are found in %s', async (language, ...pairs) => {
    await using service = await startTestService(kind, { SEARCH_LANGUAGES: language });
    for (const name of pairs.flat()) await addProduct(service, { name });
    for (const pair of pairs) {
      for (const query of pair) {
        const path = `/v1/search?type=product&q=${encodeURIComponent(query)}`;
        const { body } = await call(service, { path, as: 'user' });
        const titles = body.data.map(({ title }: { title: string }) => title);
        expect([query, body.meta.relaxed, titles.sort()]).toEqual([query, undefined, [...pair].sort()]);
      }
    }
  });

  test('do not make a word of another one', async () => {
    await using service = await startTestService(kind, { SEARCH_LANGUAGES: 'nl,pt' });
    for (const name of [
      'Oven',
      'Sok of kous',
      'Auto wassen',
      'Dit was duur',
      'Colcha',
      'Colchão',
      'Porta',
      'Portão',
    ])
      await addProduct(service, { name });
    for (const [query, ...titles] of [
      ['oven', 'Oven'],
      ['colchões', 'Colchão'],
      ['portões', 'Portão'],
    ]) {
      const path = `/v1/search?type=product&q=${encodeURIComponent(query ?? '')}`;
      const { body } = await call(service, { path, as: 'user' });
      expect([query, ...body.data.map(({ title }: { title: string }) => title)]).toEqual([query, ...titles]);
    }
  });

  test('find the ends of other words by the singular first, in whatever order the database has them', async () => {
    await using service = await startTestService(kind);
    const starts = [
      'otto',
      'sales',
      'fire',
      'milk',
      'post',
      'snow',
      'frog',
      'work',
      'sports',
      'mail',
      'gun',
      'news',
    ];
    const forms = ['Man', 'Men', 'Mens'];
    for (const name of forms) await addProduct(service, { name });
    for (const end of ['men', 'man'])
      for (const start of starts) await addProduct(service, { name: start + end });
    const { body } = await call(service, { path: '/v1/search?type=product&perPage=50&q=mens', as: 'user' });
    const titles: string[] = body.data.map(({ title }: { title: string }) => title);
    expect(titles.toSorted()).toEqual([...forms, ...starts.map(start => `${start}man`)].toSorted());
  });
});
