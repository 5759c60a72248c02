/** Tables that shops without a preset export, and those that people save from spreadsheets. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Imports, startImports } from '../../../support/samples/imports.ts';
import { describeOnDatabases } from '../../../support/service/databases.ts';

describeOnDatabases('tables of other shops, imported on %s', kind => {
  let imports: Imports;
  beforeAll(async () => {
    imports = await startImports(kind);
  });
  afterAll(() => imports[Symbol.asyncDispose]());

  test.each([
    ['Active (0/1)', '0', 'archived'],
    ['Aktiv', 'Y', 'active'],
    ['Is Visible', 'FALSE', 'archived'],
    ['Discontinued', 'yes', 'archived'],
  ])('a column "%s" that --map names for the status, with %s, is %s', async (column, cell, status) => {
    await imports.take(`sku;name;price;${column}\nST-1;Lamp;5;${cell}\n`, '--map', `status=${column}`);
    expect(await imports.shown('ST-1')).toMatchObject({ status });
  });

  test.each([
    ['12,-', 12],
    ['12,– €', 12],
    ['CHF 1’200.--', 1200],
    ['1.234,- €', 1234],
  ])('a dash for no cents: %s', async (cell, price) => {
    await imports.take(
      `sku\tname\tprice\nD-1\tLamp\t${cell}\n`,
      '--set',
      `currency=${cell.includes('CHF') ? 'CHF' : 'EUR'}`,
    );
    expect(await imports.shown('D-1')).toMatchObject({ price });
  });

  test('--image-base is put before paths of images, of variants too, and not before addresses', async () => {
    const images = ['m/mug.jpg', 'https://other.example/a.jpg'];
    const variants = [{ sku: 'I-1-S', options: { Size: 'S' }, image: 'm/mug.jpg' }];
    const options = ['--image-base', 'https://shop.example/media/'];
    await imports.take([{ sku: 'I-1', name: 'Mug', price: 5, images, variants }], ...options);
    await imports.take('sku,name,price,images\nI-2,Cup,5,/c/cup.jpg;b.jpg\n', ...options);
    const [first, second] = [await imports.shown('I-1'), await imports.shown('I-2')];
    const urlsOf = (product: { images: { url: string }[] }) => product.images.map(({ url }) => url);
    expect(urlsOf(first)).toEqual(['https://shop.example/media/m/mug.jpg', 'https://other.example/a.jpg']);
    expect(first.variants.S).toMatchObject({ imageId: first.images[0].id });
    expect(urlsOf(second)).toEqual([
      'https://shop.example/media/c/cup.jpg',
      'https://shop.example/media/b.jpg',
    ]);
  });

  test.each([
    ['price', '"1.234,50"', '2.500'],
    ['price', '"12,50 €"', '2.500'],
    ['stock', '"12,50 €"', '1.000'],
  ] as const)(
    'a %s of %s beside %s: thousands that may have been taken for decimals are named',
    async (column, comma, point) => {
      const rows =
        column === 'price' ? [`M-1,Lamp,${comma},`, `M-2,Lamp,${point},`] : [`M-1,Lamp,${comma},${point}`];
      const file = `sku,name,price,stock\n${rows.join('\n')}\n`;
      const remark =
        '1 × numbers such as 1.234 were read with a decimal point, although others have a decimal comma';
      expect((await imports.run(file)).err).toContain(remark);
      expect((await imports.run(file, '--decimal', 'comma')).err).not.toContain('decimal point');
      const points = await imports.run(
        file.replaceAll('"1.234,50"', '1234.5').replaceAll('"12,50 €"', '12.50'),
      );
      expect(points.err).not.toContain('decimal');
    },
  );

  test('records whose only tag has commas are counted, unless --tag-separator says what they are', async () => {
    const file = 'sku,name,price,tags\nT-1,Ring,5,"silver,gift"\nT-2,Ring,5,"a,b;c"\nT-3,Ring,5,gift\n';
    const ended = await imports.run(file);
    expect(ended.err).toContain(
      '1 × records have commas in their only tag: if they separate tags, import again',
    );
    const separated = await imports.run(file, '--tag-separator', ',');
    expect(separated.err).not.toContain('commas');
    expect(await imports.shown('T-1')).toMatchObject({ tags: ['silver', 'gift'] });
  });

  test.each([[[]], [['--map', 'name=Bezeichnung']]])(
    'a title above the header is named with %j',
    async options => {
      const ended = await imports.run('Preisliste;;\nsku;Bezeichnung;price\nA;Lampe;5\n', ...options);
      expect(ended.status).toBe(1);
      expect(ended.err).toContain(
        'Preisliste; if a later line names the columns, add its number: --header-line 2\n',
      );
    },
  );

  test('--map names several columns of a list', async () => {
    const map = ['--map', 'images=IMAGE1,images=Image2,images=IMAGE3,tags=Kind,tags=Style'];
    const ended = await imports.run(
      'sku,name,price,IMAGE1,IMAGE2,IMAGE3,Kind,Style\n' +
        'ML-1,Ring,5,https://a.example/1.jpg,https://a.example/2.jpg,https://a.example/3.jpg,ring;gift,old\n' +
        'ML-2,Ring,5,,https://a.example/2.jpg,,,old\n' +
        'ML-3,Ring,5,https://a.example/1.jpg,,b.jpg,,\n',
      ...map,
    );
    const urlsOf = ({ images }: { images: { url: string }[] }) => images.map(({ url }) => url.slice(-5));
    const [first, second] = [await imports.shown('ML-1'), await imports.shown('ML-2')];
    expect([urlsOf(first), first.tags]).toEqual([
      ['1.jpg', '2.jpg', '3.jpg'],
      ['ring', 'gift', 'old'],
    ]);
    expect([urlsOf(second), second.tags]).toEqual([['2.jpg'], ['old']]);
    expect(ended.err).toContain('line 4: images.1.url');
    expect(ended.err).not.toContain('column "IMAGE');
    expect(ended.err).not.toContain('not used');
  });

  test('--header-line names the line of the header', async () => {
    const file = 'Preisliste;Stand "heute;\n\nsku;name;price\nHL-1;Lampe;5\nHL-2;Lampe\nHL-3;Vase;x\n';
    const ended = await imports.run(file, '--header-line', '3');
    expect(ended.err).toContain('line 6: price');
    expect(await imports.shown('HL-1')).toMatchObject({ name: 'Lampe', price: 5 });
    for (const [line, reason] of [
      ['9', 'nothing follows its line 9'],
      ['4', 'there is no column "name"'],
      ['0', '--header-line takes an integer from 1 to 1000, not "0"'],
    ] as const) {
      const refused = await imports.run(file, '--header-line', line);
      expect(refused.status).not.toBe(0);
      expect(refused.err).toContain(reason);
    }
    const json = await imports.run(
      [{ sku: 'HL-4', name: 'Lamp', price: 5 }],
      '--path',
      'a',
      '--header-line',
      '2',
    );
    expect([json.status, json.err]).toEqual([2, expect.stringContaining('--header-line is for CSV only')]);
  });
});
