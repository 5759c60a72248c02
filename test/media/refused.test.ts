/** Files that are not images, or not what they claim: refused quickly, and no part of them is kept. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addProduct } from '../support/data/catalog.ts';
import {
  animatedWebp,
  exifSegment,
  gif,
  jpeg,
  png,
  pngChunk,
  sendImage,
  webp,
  withSegments,
} from '../support/data/images.ts';
import type { Received } from '../support/http/http.ts';
import { writesNothing } from '../support/service/contents.ts';
import { processorTime } from '../support/service/growth.ts';
import { startTestService, type TestService } from '../support/service/service.ts';

const text = (value: string) => Buffer.from(value);
const svg = '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>';

/** The JPEG with another size in its header. */
function resized(whole: Uint8Array, width: number, height: number): Uint8Array {
  const copy = Buffer.from(whole);
  const frame = copy.indexOf(Buffer.of(0xff, 0xc0));
  copy.writeUInt16BE(height, frame + 5);
  copy.writeUInt16BE(width, frame + 7);
  return copy;
}

/** A copy with one byte inverted. */
function changed(whole: Uint8Array, at: number): Uint8Array {
  const copy = Buffer.from(whole);
  copy[at] = (copy[at] ?? 0) ^ 0xff;
  return copy;
}

/** A GIF with this many pictures, each of one pixel, on a canvas of this size. */
function animatedGif(width: number, height: number, pictures: number): Uint8Array {
  const one = gif();
  const [head, picture] = [Buffer.from(one.subarray(0, 19)), one.subarray(19, -1)];
  head.writeUInt16LE(width, 6);
  head.writeUInt16LE(height, 8);
  return Buffer.concat([head, ...Array.from({ length: pictures }, () => picture), Buffer.of(0x3b)]);
}

/** A copy of a WebP or GIF with other bytes at an offset. */
function patchedAt(whole: Uint8Array, at: number, bytes: readonly number[]): Uint8Array {
  const copy = Buffer.from(whole);
  copy.set(bytes, at);
  return copy;
}

type Refused = readonly [
  name: string,
  status: number,
  error: string,
  make: () => Promise<Uint8Array> | Uint8Array,
];

const files: readonly Refused[] = [
  ['nothing at all', 422, 'INVALID_IMAGE', () => new Uint8Array()],
  ['a text', 415, 'UNSUPPORTED_IMAGE', () => text('not an image')],
  ['SVG', 415, 'UNSUPPORTED_IMAGE', () => text(svg)],
  ['SVG behind a declaration', 415, 'UNSUPPORTED_IMAGE', () => text(`<?xml version="1.0"?>\n${svg}`)],
  ['HTML', 415, 'UNSUPPORTED_IMAGE', () => text('<!DOCTYPE html><script>alert(1)</script>')],
  ['PDF', 415, 'UNSUPPORTED_IMAGE', () => text('%PDF-1.7\n')],
  ['BMP', 415, 'UNSUPPORTED_IMAGE', () => text(`BM${'\0'.repeat(60)}`)],
  ['the first bytes of a PNG', 422, 'INVALID_IMAGE', () => png(4, 4).subarray(0, 8)],
  ['the first bytes of a JPEG', 422, 'INVALID_IMAGE', async () => (await jpeg(8, 8)).subarray(0, 3)],
  ['PNG, 50,000 × 50,000', 413, 'IMAGE_TOO_LARGE', () => png(50_000, 50_000, { data: new Uint8Array(9) })],
  ['PNG, 2^31 wide', 413, 'IMAGE_TOO_LARGE', () => png(2_147_483_648, 1, { data: new Uint8Array(9) })],
  ['PNG without pixels', 422, 'INVALID_IMAGE', () => png(0, 5)],
  ['JPEG, 50,000 × 50,000', 413, 'IMAGE_TOO_LARGE', async () => resized(await jpeg(64, 64), 50_000, 50_000)],
  ['JPEG, larger than its data', 422, 'INVALID_IMAGE', async () => resized(await jpeg(64, 64), 6000, 6000)],
  ['JPEG without pixels', 422, 'INVALID_IMAGE', async () => resized(await jpeg(64, 64), 0, 64)],
  ['GIF, 50,000 × 50,000', 413, 'IMAGE_TOO_LARGE', () => patchedAt(gif(), 6, [0x50, 0xc3, 0x50, 0xc3])],
  ['GIF, a picture larger than the whole', 422, 'INVALID_IMAGE', () => patchedAt(gif(), 32, [0xff, 0xff])],
  [
    'WebP, a picture larger than the whole',
    422,
    'INVALID_IMAGE',
    async () => patchedAt(await animatedWebp(8, 8, ''), 24, [3]),
  ],
  [
    'WebP, 16,777,216 × 16,777,216',
    413,
    'IMAGE_TOO_LARGE',
    async () => patchedAt(await animatedWebp(8, 8, ''), 24, [255, 255, 255, 255, 255, 255]),
  ],
  [
    'PNG, 400 MB in 100 × 100',
    422,
    'INVALID_IMAGE',
    () => png(100, 100, { data: new Uint8Array(400_000_000) }),
  ],
  ['PNG, 41 megapixels', 413, 'IMAGE_TOO_LARGE', () => png(8200, 5000, { data: new Uint8Array(9) })],
  ['PNG with too little data', 422, 'INVALID_IMAGE', () => png(100, 100, { data: new Uint8Array(100) })],
  ['PNG with a damaged byte', 422, 'INVALID_IMAGE', () => changed(png(40, 40), 60)],
  ['GIF, 30 pictures of 50 megapixels', 413, 'IMAGE_TOO_LARGE', () => animatedGif(7000, 7000, 30)],
  ['GIF, 2,001 pictures', 422, 'INVALID_IMAGE', () => animatedGif(1, 1, 2001)],
  [
    'PNG, two colour profiles',
    422,
    'INVALID_IMAGE',
    () => png(4, 4, { chunks: [1, 2].map(() => pngChunk('iCCP', text('a\0\0x'))) }),
  ],
  [
    'PNG, two headers',
    422,
    'INVALID_IMAGE',
    () => png(4, 4, { chunks: [pngChunk('IHDR', new Uint8Array(13))] }),
  ],
  ['PNG, cut off', 422, 'INVALID_IMAGE', () => png(40, 40).subarray(0, -20)],
  ['JPEG, cut off', 422, 'INVALID_IMAGE', async () => (await jpeg(40, 40)).subarray(0, -20)],
  ['WebP, cut off', 422, 'INVALID_IMAGE', async () => (await webp(40, 40)).subarray(0, -4)],
  ['GIF, cut off', 422, 'INVALID_IMAGE', () => gif().subarray(0, -3)],
  [
    'a JPEG in the name of a GIF',
    413,
    'IMAGE_TOO_LARGE',
    async () => Buffer.concat([text('GIF89a'), await jpeg(9, 9)]),
  ],
  [
    'AVIF, which says its name only',
    415,
    'UNSUPPORTED_IMAGE',
    () => text('\0\0\0\x1cftypavif\0\0\0\0avifmif1'),
  ],
];

describe('files that are refused', () => {
  let folder: string;
  let service: TestService;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'catalog-media-'));
    service = await startTestService('sqlite', { DATA_DIR: folder });
    // The first image of a process costs more, for compilation and the start of threads.
    await sendImage(service, await addProduct(service), png(4, 4));
  });
  afterAll(async () => {
    await service.stop();
    rmSync(folder, { recursive: true });
  });

  const kept = () => {
    const media = join(folder, 'media');
    return existsSync(media)
      ? readdirSync(media, { recursive: true, encoding: 'utf8' }).filter(name => /[0-9a-f]{64}$/.test(name))
      : [];
  };

  test.each(files)('%s: %d %s', async (_, status, error, make) => {
    const product = await addProduct(service);
    const file = await make();
    const before = kept();
    const memory = process.memoryUsage.rss();
    await writesNothing(service, async () => {
      const responses: Received[] = [];
      const send = async () => responses.push(await sendImage(service, product, file));
      expect(await processorTime(send)).toBeLessThan(1000);
      expect(responses.map(({ status, body }) => [status, body.error])).toEqual([[status, error]]);
      expect(responses[0]?.body.details?.[0]?.field).toBe('file');
    });
    expect(process.memoryUsage.rss() - memory).toBeLessThan(200e6);
    expect(kept()).toEqual(before);
  });

  test('a file larger than the limit is 413, with or without a declared length', async () => {
    const product = await addProduct(service);
    const url = `${service.url}/v1/products/${product.id}/images`;
    const headers = { Authorization: `Bearer ${service.tokens.editor}`, 'Content-Type': 'image/png' };
    const large = new Uint8Array(20_971_521);
    const said = await fetch(url, { method: 'POST', headers, body: large });
    const streamed = new ReadableStream({
      start(controller) {
        for (let at = 0; at < large.length; at += 1 << 20)
          controller.enqueue(large.subarray(at, at + (1 << 20)));
        controller.close();
      },
    });
    const unsaid = await fetch(url, { method: 'POST', headers, body: streamed });
    const form = new FormData();
    form.set('file', new Blob([large]));
    const { Authorization } = headers;
    const formed = await fetch(url, { method: 'POST', headers: { Authorization }, body: form });
    expect([said.status, unsaid.status, formed.status]).toEqual([413, 413, 413]);
  });

  test('formats that are decoded as a whole may have four fifths of the pixels of a JPEG', async () => {
    await using small = await startTestService('sqlite', { DATA_DIR: folder, MEDIA_PIXEL_LIMIT: '10000' });
    const product = await addProduct(small);
    const sent = [
      await jpeg(100, 100),
      png(100, 80),
      png(100, 81),
      await webp(100, 81),
      await jpeg(100, 101),
    ];
    const responses = [];
    for (const file of sent) responses.push(await sendImage(small, product, file));
    expect(responses.map(({ status }) => status)).toEqual([201, 201, 413, 413, 413]);
    expect(responses[2]?.body.details[0].message).toBe(
      'is 100 × 81 pixels; at most 8000 pixels are accepted',
    );
  });

  test('data that is not part of the picture is removed from stored files', async () => {
    const secret = 'Hidden 48.137N 11.575E';
    const hidden = text(secret);
    const photo = withSegments(await jpeg(60, 40), exifSegment(1, secret));
    const forms: readonly (readonly [string, Uint8Array])[] = [
      ['JPEG, EXIF', photo],
      ['JPEG, what follows', Buffer.concat([photo, hidden])],
      ['PNG, text', png(20, 20, { chunks: [pngChunk('tEXt', Buffer.concat([text('Comment\0'), hidden]))] })],
      ['PNG, unknown chunk', png(21, 20, { chunks: [pngChunk('teSt', hidden)] })],
      ['PNG and a page', png(22, 20, { rest: `<script>${secret}</script>` })],
      ['WebP, EXIF', await animatedWebp(12, 12, secret)],
      [
        'GIF, comment',
        Buffer.concat([
          gif().subarray(0, 19),
          Buffer.of(0x21, 0xfe, hidden.length),
          hidden,
          Buffer.of(0),
          gif().subarray(19),
        ]),
      ],
      ['GIF and a page', Buffer.concat([gif(), hidden])],
    ];
    for (const [name, file] of forms) {
      expect([name, Buffer.from(file).includes(secret)]).toEqual([name, true]);
      const made = await sendImage(service, await addProduct(service), file);
      expect([name, made.status]).toEqual([name, 201]);
      const served = Buffer.from(await (await fetch(service.url + made.body.url)).bytes());
      expect([name, served.length > 10, served.includes(secret)]).toEqual([name, true, false]);
    }
  });

  test('images in all eight orientations are shown upright, and no JPEG is compressed again', async () => {
    // Red on the left, blue on the right, the upper half darker: each corner has a different colour.
    const corner = (x: number, y: number) => {
      const shade = y < 16 ? 120 : 250;
      return x < 24 ? ([shade, 0, 0, 255] as const) : ([0, 0, shade, 255] as const);
    };
    const upright = new Bun.Image(png(48, 32, { pixel: corner }));
    const stored: Readonly<Record<number, (image: Bun.Image) => Bun.Image>> = {
      1: image => image,
      2: image => image.flop(),
      3: image => image.rotate(180),
      4: image => image.flip(),
      5: image => image.rotate(90).flop(),
      6: image => image.rotate(270),
      7: image => image.rotate(270).flop(),
      8: image => image.rotate(90),
    };
    for (const [orientation, turn] of Object.entries(stored)) {
      const source = new Bun.Image(await upright.png().bytes());
      const file = Buffer.from(await turn(source).jpeg({ quality: 95 }).bytes());
      const made = await sendImage(
        service,
        await addProduct(service),
        withSegments(file, exifSegment(Number(orientation), 'Camera')),
      );
      expect([orientation, made.body.width, made.body.height]).toEqual([orientation, 48, 32]);
      const shown = async (query: string) => (await fetch(service.url + made.body.url + query)).bytes();
      const [served, small] = [await shown(''), await shown('?w=64&format=webp')];
      const scan = file.subarray(file.indexOf(Buffer.of(0xff, 0xda)));
      expect(Buffer.from(served).subarray(-scan.length)).toEqual(scan);
      for (const picture of [served, small])
        expect([orientation, await cornersOf(picture)]).toEqual([
          orientation,
          ['dark red', 'dark blue', 'red', 'blue'],
        ]);
    }
  });
});

/** The corners of a picture: upper left, upper right, lower left, lower right. */
async function cornersOf(file: Uint8Array): Promise<string[]> {
  const { inflateSync } = await import('node:zlib');
  const small = Buffer.from(
    await new Bun.Image(file).resize(2, 2, { filter: 'box' }).png({ compressionLevel: 0 }).bytes(),
  );
  const start = small.indexOf('IDAT');
  const rows = inflateSync(small.subarray(start + 4, start + 4 + small.readUInt32BE(start - 4)));
  return [1, 5, 10, 14].map(at => {
    const [red = 0, , blue = 0] = rows.subarray(at, at + 3);
    return `${Math.max(red, blue) < 185 ? 'dark ' : ''}${red > blue ? 'red' : 'blue'}`;
  });
}
