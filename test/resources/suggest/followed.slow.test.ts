/** Suggestions are the same whether names changed after they were read into memory or were read just now. */
import { expect, test } from 'bun:test';
import { addProduct, awaitNames, pathOf } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

async function suggest(service: TestService, query: string) {
  await awaitNames(service);
  const { text } = await call(service, {
    path: `/v1/search/suggest?q=${encodeURIComponent(query)}`,
    as: 'user',
  });
  return text;
}

describeOnDatabases('suggestions after changes of names on %s', kind => {
  test('equal those of a new replica, where more products match than are compared', async () => {
    await using service = await startTestService(kind, { BASE_URL: 'https://shop.example' });
    const change = (path: string, body: object) =>
      call(service, { method: 'PATCH', path, as: 'editor', body });
    const first = await addProduct(service, { name: 'oak sofa' });
    for (let index = 0; index < 30; index++) await addProduct(service, { name: `steel lamp ${index}` });
    await suggest(service, 'lam');
    await change(pathOf(first), { name: 'lamps sofa 7' });
    const replica = await service.replica();
    for (const query of ['lam', 'lamp', 'lamps', 'l']) {
      const expected = await suggest(replica, query);
      expect(await suggest(service, query)).toEqual(expected);
    }
  });

  test('spell words as most current names do', async () => {
    await using service = await startTestService(kind);
    const words = async (query: string): Promise<string[]> => JSON.parse(await suggest(service, query)).words;
    const one = await addProduct(service, { name: 'Crémé puff' });
    for (const index of [1, 2]) await addProduct(service, { name: `Crème ${index}` });
    expect(await words('cre')).toEqual(['crème']);
    const rename = (name: string) =>
      call(service, { method: 'PATCH', path: pathOf(one), as: 'editor', body: { name } });
    await rename('Crémé cake');
    expect(await words('cre')).toEqual(['crème']);
    await rename('Grüße');
    expect(await words('gru')).toEqual(['grüße']);
    await rename('Grusse');
    expect(await words('gru')).toEqual(['grusse']);
  });

  test('write the Turkish İ of a name as i, with one dot', async () => {
    await using service = await startTestService(kind);
    const words = async (query: string): Promise<string[]> => JSON.parse(await suggest(service, query)).words;
    for (const name of ['İpek Şal', 'YEŞİL İÇECEK']) await addProduct(service, { name });
    expect(await words('ip')).toEqual(['ipek']);
    expect(await words('ipek ş')).toEqual(['ipek şal']);
    expect(await words('yesil ic')).toEqual(['yeşil içecek']);
  });

  test('spell words before the last one as current names do, also words with synonyms', async () => {
    await using service = await startTestService(kind);
    const words = async (): Promise<string[]> =>
      (await call(service, { path: '/v1/search/suggest?q=creme%20pu', as: 'user' })).body.words;
    const path = pathOf(await addProduct(service, { name: 'Crémé puff' }));
    const body = { words: ['creme', 'custard'] };
    await call(service, { method: 'POST', path: '/v1/search/synonyms', as: 'admin', body });
    await awaitNames(service);
    expect(await words()).toEqual(['crémé puff']);
    await call(service, { method: 'PATCH', path, as: 'editor', body: { name: 'Crème puff' } });
    expect(await words()).toEqual(['crème puff']);
  });
});
