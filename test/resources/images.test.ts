/** Images of products: uploads and links, in order, as part of the product. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { addProduct, pathOf, read } from '../support/data/catalog.ts';
import { gif, jpeg, plainPng, png, sendImage, webp } from '../support/data/images.ts';
import { call } from '../support/http/http.ts';
import { play, type Scenario } from '../support/http/scenario.ts';
import { describeOnDatabases } from '../support/service/databases.ts';
import { startTestService, type TestService } from '../support/service/service.ts';

const link = (name: string) => ({ url: `https://images.example/${name}.jpg` });
const part = (name: string) => `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\nA\r\n`;

describeOnDatabases('images of products on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  const imagesOf = async (product: { id: number }) => (await read(service, product)).body.images;
  const add = (product: { id: number }, body: object) =>
    call(service, { method: 'POST', path: `${pathOf(product)}/images`, as: 'editor', body });

  test('an upload is shown by its product, and served at its address', async () => {
    const product = await addProduct(service);
    const made = await sendImage(service, product, plainPng(40, 30, 200, 100, 50));
    expect(made.status).toBe(201);
    const { id, productId, position, ...image } = made.body;
    expect(image).toEqual({
      url: expect.stringMatching(/^\/media\/[0-9a-f]{64}$/),
      alt: null,
      width: 40,
      height: 30,
      colour: '#c86432',
      type: 'image/png',
    });
    expect([productId, position]).toEqual([product.id, 0]);
    expect(made.headers.get('Location')).toBe(`${service.url}${pathOf(product)}/images/${id}`);
    expect(await imagesOf(product)).toEqual([{ id, ...image }]);
    const served = await fetch(service.url + image.url);
    expect([served.status, served.headers.get('Content-Type')]).toEqual([200, 'image/png']);
    expect(await new Bun.Image(await served.bytes()).metadata()).toMatchObject({ width: 40, height: 30 });
  });

  test('the content of a file decides its type, not its Content-Type', async () => {
    const files = [
      [await jpeg(20, 10), 'image/jpeg'],
      [png(20, 10), 'image/png'],
      [await webp(20, 10), 'image/webp'],
      [gif(), 'image/gif'],
    ] as const;
    for (const [file, type] of files) {
      for (const called of ['image/png', 'image/x-anything', 'application/octet-stream', 'IMAGE/JPEG']) {
        const product = await addProduct(service);
        const made = await sendImage(service, product, file, { 'Content-Type': called });
        expect([called, made.status, made.body.type]).toEqual([called, 201, type]);
      }
    }
  });

  test('a form uploads a file with an alt text, whatever the name of the file', async () => {
    const product = await addProduct(service);
    const form = new FormData();
    form.set('alt', 'The lamp, “lit” – ü');
    form.set('file', new File([plainPng(4, 4, 1, 2, 3)], '../../etc/passwd.svg', { type: 'image/svg+xml' }));
    form.set('unknown', 'ignored');
    const made = await sendImage(service, product, form);
    expect([made.status, made.body.alt, made.body.type]).toEqual([201, 'The lamp, “lit” – ü', 'image/png']);
  });

  test('the alt parameter describes a raw file, or a link that has no alt', async () => {
    const path = `${pathOf(await addProduct(service))}/images?alt=Front%20view`;
    const made = { method: 'POST', path, as: 'editor' } as const;
    const raw = { body: plainPng(4, 4, 1, 2, 3), headers: { 'Content-Type': 'image/png' } };
    for (const request of [raw, { body: link('a') }])
      expect((await call(service, { ...made, ...request })).body.alt).toBe('Front view');
    expect((await call(service, { ...made, body: { ...link('b'), alt: 'B' } })).body.alt).toBe('B');
  });

  test('links and uploads share one order, which a PATCH changes', async () => {
    const product = await addProduct(service, { images: [link('a'), link('b')] });
    const uploaded = (await sendImage(service, product, plainPng(3, 3, 9, 9, 9))).body;
    const linked = (await add(product, { ...link('c'), alt: 'C' })).body;
    expect(linked).toMatchObject({ position: 3, alt: 'C', width: null, type: null });
    const moved = await call(service, {
      method: 'PATCH',
      path: `${pathOf(product)}/images/${uploaded.id}`,
      as: 'editor',
      body: { position: 0, alt: 'First' },
    });
    expect(moved.body).toEqual({ ...uploaded, position: 0, alt: 'First' });
    const urls = (await imagesOf(product)).map(({ url }: { url: string }) => url);
    expect(urls).toEqual([uploaded.url, link('a').url, link('b').url, link('c').url]);
    const last = await call(service, {
      method: 'PATCH',
      path: `${pathOf(product)}/images/${uploaded.id}`,
      as: 'editor',
      body: { position: 99 },
    });
    expect([last.body.position, last.body.alt]).toEqual([3, 'First']);
  });

  test('merge patch and JSON Patch change an image, and honour If-Match', async () => {
    const product = await addProduct(service, { images: [link('a'), link('b')] });
    const [, second] = await imagesOf(product);
    const path = `${pathOf(product)}/images/${second.id}`;
    const shown = await call(service, { path, as: 'user' });
    const send = (type: string, body: unknown, tag: string) =>
      call(service, {
        method: 'PATCH',
        path,
        as: 'editor',
        body: JSON.stringify(body),
        headers: { 'Content-Type': type, 'If-Match': tag },
      });
    const tag = shown.headers.get('ETag') ?? '';
    const merged = await send('application/merge-patch+json', { alt: 'B' }, tag);
    expect([merged.status, merged.body.alt]).toEqual([200, 'B']);
    expect((await send('application/merge-patch+json', { alt: 'C' }, tag)).status).toBe(412);
    const operations = [
      { op: 'test', path: '/alt', value: 'B' },
      { op: 'replace', path: '/position', value: 0 },
    ];
    const patched = await send('application/json-patch+json', operations, merged.headers.get('ETag') ?? '');
    expect([patched.status, patched.body.position]).toEqual([200, 0]);
    const readOnly = [{ op: 'replace', path: '/url', value: 'https://images.example/other.jpg' }];
    const refused = await send('application/json-patch+json', readOnly, patched.headers.get('ETag') ?? '');
    expect([refused.status, refused.body.error]).toEqual([422, 'PATCH_RESULT_INVALID']);
  });

  test('pages and cursors return every image once', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const product = await addProduct(service, { images: names.map(link) });
    const list = async (query: string) =>
      (await call(service, { path: `${pathOf(product)}/images?${query}`, as: 'user' })).body;
    const positions = (page: { data: { position: number }[] }) => page.data.map(({ position }) => position);
    expect(positions(await list(''))).toEqual([0, 1, 2, 3, 4]);
    const second = await list('page=2&perPage=2');
    expect([positions(second), second.meta.total]).toEqual([[2, 3], 5]);
    const first = await list('limit=2&count=exact');
    const next = await list(`limit=2&cursor=${first.meta.nextCursor}`);
    const last = await list(`limit=2&cursor=${next.meta.nextCursor}`);
    expect([first, next, last].map(positions)).toEqual([[0, 1], [2, 3], [4]]);
    expect([first.meta.total, last.meta.nextCursor]).toEqual([5, null]);
    expect(positions(await list(`limit=2&cursor=${last.meta.prevCursor}`))).toEqual([2, 3]);
  });

  test('HAL links to the picture itself, by a URI', async () => {
    const product = await addProduct(service, { images: [link('a\\ä|😀[%23%?\\#a#b'), link('half')] });
    const uploaded = (await sendImage(service, product, plainPng(5, 5, 9, 8, 7))).body;
    // Earlier releases stored links with half of an emoji.
    const half = sql`update products set document = replace(document, 'half.jpg', ${'\\ud83d.jpg'})`;
    await service.database.write(session => session.run(half.compile(service.database.build)));
    const shown = { path: `${pathOf(product)}/images`, headers: { Accept: 'application/hal+json' } };
    const { body } = await call(service, { ...shown, as: 'user' });
    const contents = body._embedded.images.map((one: { _links: { content: object } }) => one._links.content);
    const urls = ['a/%C3%A4%7C%F0%9F%98%80%5B%23%25?%5C#a%23b', '%EF%BF%BD'].map(name => link(name).url);
    expect(contents).toEqual([...urls, service.url + uploaded.url].map(href => ({ href })));
  });

  test('a product written back with its images keeps its uploads', async () => {
    const product = await addProduct(service, { images: [link('a')] });
    const uploaded = (await sendImage(service, product, plainPng(6, 5, 1, 1, 1))).body;
    const shown = (await read(service, product)).body;
    const put = await call(service, {
      method: 'PUT',
      path: pathOf(product),
      as: 'editor',
      body: { ...shown, images: [{ id: uploaded.id }, { url: link('a').url }] },
    });
    expect(put.body.images.map(({ url }: { url: string }) => url)).toEqual([uploaded.url, link('a').url]);
    expect(put.body.images[0]).toMatchObject({ width: 6, height: 5, type: 'image/png' });
  });

  test('two uploads and a concurrent PATCH of the product all take effect', async () => {
    const product = await addProduct(service);
    const colours = [10, 20, 30, 40];
    const sent = await Promise.all([
      ...colours.map(red => sendImage(service, product, plainPng(4, 4, red, 0, 0))),
      call(service, { method: 'PATCH', path: pathOf(product), as: 'editor', body: { brand: 'Acme' } }),
    ]);
    expect(sent.map(({ status }) => status)).toEqual([201, 201, 201, 201, 200]);
    const shown = (await read(service, product)).body;
    expect([shown.images.length, shown.brand]).toEqual([4, 'Acme']);
  });

  test('a repeated Idempotency-Key returns the same image, although each form has another boundary', async () => {
    const product = await addProduct(service);
    const headers = { 'Idempotency-Key': `upload-${kind}` };
    const form = (alt: string) => {
      const data = new FormData();
      data.set('file', new Blob([plainPng(7, 7, 7, 7, 7)]));
      data.set('alt', alt);
      return data;
    };
    const first = await sendImage(service, product, form('A'), headers);
    const again = await sendImage(service, product, form('A'), headers);
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('Idempotency-Replayed')).toBe('true');
    const other = await sendImage(service, product, form('B'), headers);
    expect([other.status, other.body.error]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
    expect((await imagesOf(product)).length).toBe(1);
  });

  test('a change of an image is an event of its product, with the images before and after', async () => {
    const product = await addProduct(service);
    const made = (await sendImage(service, product, plainPng(8, 8, 8, 8, 8))).body;
    const path = `/v1/events?resource=product&resourceId=${product.id}&sort=id&order=desc`;
    const { data } = (await call(service, { path, as: 'admin' })).body;
    expect(data[0]).toMatchObject({ type: 'product.updated' });
    expect(data[0].after.images).toEqual([expect.objectContaining({ id: made.id, url: made.url })]);
    expect(data[0].before.images).toEqual([]);
  });

  describe('refused requests', () => {
    let path: string;
    beforeAll(async () => {
      const product = await addProduct(service, { images: [link('there')] });
      path = `${pathOf(product)}/images`;
    });
    const scenarios: readonly (Omit<Scenario, 'path'> & { readonly path?: string })[] = [
      ...['ftp://a.example/b', 'javascript:alert(1)', link('\ud83d').url].map(url => ({
        ...{ name: `a link that is none: ${url.toWellFormed()}`, body: { url } },
        ...{ status: 400, problems: [['url', 'url']] as const },
      })),
      ...['https://user:secret@a.example/b', 'http://user@a.example', 'https:///:@a.example'].map(url => ({
        ...{ name: `a link with user name or password: ${url}`, body: { url } },
        ...{ status: 400, problems: [['url', 'credentials']] as const },
      })),
      { name: 'no link', body: {}, status: 400, problems: [['url', 'required']] },
      { name: 'a link it has', body: link('there'), status: 409, error: 'DUPLICATE' },
      {
        name: 'a form without a file',
        body: `${part('alt')}--x--`,
        headers: { 'Content-Type': 'multipart/form-data; boundary=x' },
        status: 400,
        problems: [['file', 'required']],
      },
      {
        name: 'parts that are not known, though members of JSON or of prototypes are, where that is requested',
        body: `${['file', 'altt', 'url', '__proto__'].map(part).join('')}--x--`,
        headers: { 'Content-Type': 'multipart/form-data; boundary=x', Prefer: 'handling=strict' },
        status: 400,
        problems: ['altt', 'url', '__proto__'].map(name => [name, 'unknown'] as const),
      },
      {
        name: 'two files in a form',
        body: `${part('file').repeat(2)}--x--`,
        headers: { 'Content-Type': 'multipart/form-data; boundary=x' },
        status: 400,
        problems: [['file', 'repeated']],
      },
      {
        name: 'a form without its boundary',
        body: '--x--',
        headers: { 'Content-Type': 'multipart/form-data' },
        status: 400,
        problems: [['body', 'multipart']],
      },
      {
        name: 'a form that is cut off',
        body: '--x\r\nContent-Disposition: form-data; name="file"\r\n\r\nA',
        headers: { 'Content-Type': 'multipart/form-data; boundary=x' },
        status: 400,
        problems: [['body', 'multipart']],
      },
      {
        ...{ name: 'a product that is not there', path: '/v1/products/2147483647/images' },
        ...{ body: plainPng(2, 2, 0, 0, 0), headers: { 'Content-Type': 'image/png' } },
        ...{ status: 404, error: 'NOT_FOUND' },
      },
      {
        name: 'an image that is not there',
        method: 'DELETE',
        path: '/v1/products/1/images/5',
        status: 404,
        error: 'NOT_FOUND',
      },
    ];
    test.each(scenarios.map(scenario => [scenario.name, scenario] as const))('%s', async (_, scenario) => {
      await play(service, { method: 'POST', as: 'editor', path, ...scenario });
    });

    test('the same picture twice in one product, and more than a hundred images', async () => {
      const product = await addProduct(service, {
        images: Array.from({ length: 99 }, (_, index) => link(String(index))),
      });
      const file = plainPng(9, 9, 1, 2, 3);
      expect((await sendImage(service, product, file)).status).toBe(201);
      const again = await sendImage(service, product, file);
      expect([again.status, again.body.error]).toEqual([409, 'DUPLICATE']);
      const another = await sendImage(service, product, plainPng(9, 9, 3, 2, 1));
      expect([another.status, another.body.error]).toEqual([409, 'LIMIT_REACHED']);
    });
  });
});
