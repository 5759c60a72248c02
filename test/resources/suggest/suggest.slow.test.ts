/** Which products are suggested while a query is being typed, over HTTP. */
import { expect, test } from 'bun:test';
import { addProduct, awaitNames, pathOf } from '../../support/data/catalog.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

describeOnDatabases('suggestions on %s', kind => {
  test('are current products with all words in name or brand, and others only when there are none', async () => {
    await using service = await startTestService(kind);
    const lamp = await addProduct(service, { name: 'Oak lamp', brand: 'Glimmer' });
    await addProduct(service, { name: 'Pine table', description: 'Goes with a lamp by Glimmer' });
    const suggested = async (query: string): Promise<string[]> => {
      const path = `/v1/search/suggest?q=${encodeURIComponent(query)}`;
      const { body } = await call(service, { path, as: 'user' });
      return body.products.map(({ title }: { title: string }) => title);
    };
    await awaitNames(service);
    expect(await suggested('glimmer la')).toEqual(['Oak lamp']);
    expect(await suggested('goes wi')).toEqual(['Pine table']);
    await call(service, { method: 'PATCH', path: pathOf(lamp), as: 'editor', body: { name: 'Oak lantern' } });
    expect(await suggested('glimmer lan')).toEqual(['Oak lantern']);
    expect(await suggested('glimmer lam')).toEqual(['Pine table']);
    const chair = await addProduct(service, { name: 'Glimmer lamp chair' });
    expect(await suggested('glimmer lam')).toEqual(['Glimmer lamp chair']);
    await call(service, { method: 'DELETE', path: pathOf(chair), as: 'admin' });
    expect(await suggested('glimmer lam')).toEqual(['Pine table']);
  });

  test('match all parts of a hyphenated word', async () => {
    await using service = await startTestService(kind);
    for (const name of [
      'Polo Shirt',
      'T-Shirt',
      'USB-C Cable',
      'Cable Tie',
      "L'Oréal Shampoo",
      'Lord of the Rings',
    ])
      await addProduct(service, { name });
    await awaitNames(service);
    for (const [query, ...titles] of [
      ['t-sh', 'T-Shirt'],
      ['usb-c ca', 'USB-C Cable'],
      // What the letters also begin comes after it.
      ["l'or", "L'Oréal Shampoo", 'Lord of the Rings'],
    ]) {
      const path = `/v1/search/suggest?q=${encodeURIComponent(query ?? '')}`;
      const { body } = await call(service, { path, as: 'user' });
      expect([query, body.products.map((product: { title: string }) => product.title)]).toEqual([
        query,
        titles,
      ]);
    }
  });

  test('complete the last word from names that have the other words, and not from parts of codes', async () => {
    await using service = await startTestService(kind);
    await addProduct(service, { name: 'LED bulb', sku: 'LI-CAND-B1', tags: ['beam'] });
    await addProduct(service, { name: 'LED bulb, small' });
    await addProduct(service, { name: 'LED blanket' });
    await addProduct(service, { name: 'Candle', description: 'For the bath and the bedroom' });
    await addProduct(service, { name: 'Bath mat', description: 'Soft as wool' });
    const words = async (query: string): Promise<string[]> => {
      const path = `/v1/search/suggest?q=${encodeURIComponent(query)}`;
      return (await call(service, { path, as: 'user' })).body.words;
    };
    await awaitNames(service);
    expect(await words('cand')).toEqual(['candle']);
    expect(await words('led b')).toEqual(['led bulb', 'led blanket']);
    // No name has both words, so words come from the descriptions of products that have the first one.
    expect(await words('candle b')).toEqual(['candle bath', 'candle bedroom']);
    expect(await words('wool ca')).toEqual([]);
  });

  test('keep the decimal point, and complete a word after a hyphen only with words that follow', async () => {
    await using service = await startTestService(kind);
    for (const name of ['Norda Akku-Bohrer', 'Borda Akku-Bohrer, braun', 'Reis 2,5 kg'])
      await addProduct(service, { name });
    await addProduct(service, { name: 'HDMI 2.1 Kabel', description: 'Im Nord-West-Farbton' });
    await awaitNames(service);
    for (const [query, ...expected] of [
      ['akku-b', 'akku-bohrer'],
      ['akku b', 'akku bohrer', 'akku borda', 'akku braun'],
      ['akku-n'],
      ['akku n', 'akku norda'],
      // From the description.
      ['nord-w', 'nord-west'],
      ['nord-h'],
      ['nord h', 'nord hdmi'],
      ['hdmi 2.1 ka', 'hdmi 2.1 kabel'],
      ['reis 2,5 k', 'reis 2,5 kg'],
    ]) {
      const path = `/v1/search/suggest?q=${encodeURIComponent(query ?? '')}`;
      const { body } = await call(service, { path, as: 'user' });
      expect([query, body.words.toSorted()]).toEqual([query, expected]);
    }
  });

  test('complete words from current names, including those changed since the names were read', async () => {
    await using service = await startTestService(kind);
    const shirt = await addProduct(service, { name: 'Wool shirt', category: 'Shoes' });
    const words = async (of: TestService): Promise<string[]> =>
      (await call(of, { path: '/v1/search/suggest?q=sh', as: 'user' })).body.words;
    /** Expects these words from the service, which followed all changes, and from a replica that has just started. */
    const expectWords = async (expected: readonly string[]) => {
      expect(await words(service)).toEqual([...expected]);
      const replica = await service.replica();
      await awaitNames(replica);
      expect(await words(replica)).toEqual([...expected]);
    };
    await awaitNames(service);
    await expectWords(['shirt']);
    await call(service, { method: 'PATCH', path: pathOf(shirt), as: 'editor', body: { name: 'Oak shirt' } });
    await expectWords(['shirt']);
    const shelf = await addProduct(service, { name: 'Shelf' });
    await addProduct(service, { name: 'Shelf, small' });
    await expectWords(['shelf', 'shirt']);
    await call(service, { method: 'PATCH', path: pathOf(shirt), as: 'editor', body: { name: 'Oak shed' } });
    await expectWords(['shelf', 'shed']);
    await call(service, { method: 'DELETE', path: pathOf(shelf), as: 'admin' });
    await expectWords(['shed', 'shelf']);
  });

  test('write kana as names do, or else as they are typed, and never mix them', async () => {
    await using service = await startTestService(kind);
    await addProduct(service, { name: 'スマートフォン ケース' });
    await addProduct(service, { name: 'りんごジュース' });
    await addProduct(service, { name: 'เสื้อยืดสีแดง' });
    await addProduct(service, { name: 'ケーキ 1½ kg' });
    await awaitNames(service);
    for (const [query, ...expected] of [
      ['けーす', 'ケース'],
      ['ｹｰｽ', 'ケース'],
      ['け', 'ケー'],
      ['すまーと けーす', 'スマート ケース'],
      ['ジュース', 'ジュース'],
      ['じゅーす', 'ジュース'],
      ['リンゴ', 'リンゴ'],
      ['リンゴ ジュース', 'リンゴ ジュース'],
      ['りんご じゅー', 'りんご ジュー'],
      // A soft hyphen, after which the places of the words are not known.
      ['เสื้อ\u00adยืดสี', 'เสื้อ\u00adยืดสี'],
      ['1½ けー', '1 1 2 ケー'],
    ]) {
      const path = `/v1/search/suggest?q=${encodeURIComponent(query ?? '')}`;
      const { words } = (await call(service, { path, as: 'user' })).body;
      expect([query, ...words]).toEqual([query, ...expected]);
    }
  });
});
