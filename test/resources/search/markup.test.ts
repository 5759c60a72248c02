/** Markup of descriptions, and of attributes that are descriptions: it is not found, and no snippet shows it. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const described = (description: string) => ({ name: 'Bowl', description });

const texts: readonly (readonly [kind: string, members: object, shown: string])[] = [
  ['attributes of a tag', described('<p title="a > hiddenone" data-x=\'{"b>":"hiddenone"}\'>Ash</p>'), 'Ash'],
  ['a style in capital letters', described('<STYLE>hiddenone {}</STYLE >Beech'), 'Beech'],
  ['a script with an odd end', described('<script>hiddenone()</SCRIPT\n>Cedar'), 'Cedar'],
  ['an attribute', { attributes: { short: '<b class="hiddenone">Dogwood</b> &amp; oil' } }, 'Dogwood & oil'],
  ['a list', { attributes: { parts: ['<i id="hiddenone">Elm</i>', 'Fir'] } }, 'Elm'],
];

describeOnDatabases('markup in a search on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
    for (const [, members] of texts) await addProduct(service, { name: 'Bowl', ...members });
    await addProduct(service, described('5<6 and a<bcd, sized <=">= by hornbeam'));
  });
  afterAll(() => service.stop());
  const snippetsOf = async (query: string) => {
    const { body } = await call(service, { path: `/v1/search?q=${query}`, as: 'user' });
    return body.data.map(({ snippet }: { snippet: string }) => snippet);
  };

  test('is not found', async () => {
    expect(await snippetsOf('hiddenone')).toEqual([]);
  });

  test.each([...texts])('%s: the text is found and shown without it', async (_, __, shown) => {
    const [word = '', ...rest] = shown.split(' ');
    const marked = [`<mark>${word}</mark>`, ...rest.map(text => text.replace('&', '&amp;'))].join(' ');
    expect(await snippetsOf(word)).toEqual([marked]);
  });

  test('signs that are no tags stay', async () => {
    expect(await snippetsOf('hornbeam')).toEqual([
      '5&lt;6 and a&lt;bcd, sized &lt;=&quot;&gt;= by <mark>hornbeam</mark>',
    ]);
  });
});
