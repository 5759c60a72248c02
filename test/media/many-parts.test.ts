/** Files and forms with very many or very long parts: anything but a picture costs little and is not kept. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { addProduct } from '../support/data/catalog.ts';
import { gif, plainPng, png, sendImage } from '../support/data/images.ts';
import type { Received } from '../support/http/http.ts';
import { processorTime } from '../support/service/growth.ts';
import { startTestService, type TestService } from '../support/service/service.ts';

/** The offset of the first block of the GIF, after its header and colours. */
const firstBlock = 19;
const control = Buffer.of(0x21, 0xf9, 4, 1, 0, 0, 0, 0);
const emptyControl = Buffer.of(0x21, 0xf9, 0);
const emptyComment = Buffer.of(0x21, 0xfe, 0);

/** The GIF of one pixel with this many blocks before its picture. */
const gifWith = (block: Uint8Array, count: number) =>
  Buffer.concat([
    gif().subarray(0, firstBlock),
    Buffer.alloc(count * block.length, block),
    gif().subarray(firstBlock),
  ]);

/** A chunk of WebP; its content has an even length. */
function chunk(type: string, content: Uint8Array): Buffer {
  const head = Buffer.from(`${type}\0\0\0\0`, 'latin1');
  head.writeUInt32LE(content.length, 4);
  return Buffer.concat([head, content]);
}

/** An animation of this many pictures of one pixel, with a colour profile of this many bytes. */
function animationWith(profile: number, count: number): Buffer {
  const pixel = chunk('VP8L', Buffer.from('2f0000000007d0fffef7bfff8188880800'.padEnd(36, '0'), 'hex'));
  const frame = chunk('ANMF', Buffer.concat([Buffer.alloc(16), pixel]));
  const header = chunk('VP8X', Buffer.of(0x22, 0, 0, 0, 0, 0, 0, 0, 0, 0));
  const before = [header, chunk('ICCP', Buffer.alloc(profile)), chunk('ANIM', Buffer.alloc(6))];
  const content = [Buffer.from('WEBP'), ...before, Buffer.alloc(count * frame.length, frame)];
  return chunk('RIFF', Buffer.concat(content));
}

describe('files of many parts', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService('sqlite');
    // The first image of a process costs more, for compilation and the start of threads.
    await sendImage(service, await addProduct(service), png(4, 4));
  });
  afterAll(() => service.stop());

  async function sent(body: Uint8Array | FormData): Promise<Received> {
    const product = await addProduct(service);
    const responses: Received[] = [];
    expect(
      await processorTime(async () => responses.push(await sendImage(service, product, body))),
    ).toBeLessThan(1000);
    const [response] = responses;
    if (response === undefined) throw new Error('there was no response');
    return response;
  }

  test.each([
    ['empty controls', emptyControl],
    ['comments', emptyComment],
    ['controls', control],
  ])('a GIF of 20 MB of %s is refused', async (_, block) => {
    const memory = process.memoryUsage.rss();
    const { status, body } = await sent(gifWith(block, Math.floor(20_700_000 / block.length)));
    expect([status, body.error]).toEqual([422, 'INVALID_IMAGE']);
    expect(body.message).toContain('is a GIF with too many blocks');
    expect(process.memoryUsage.rss() - memory).toBeLessThan(200e6);
  });

  test('the last of several controls of a picture is kept', async () => {
    const { status, body } = await sent(gifWith(emptyControl, 60_000));
    expect(status).toBe(201);
    const served = await (await fetch(service.url + body.url)).bytes();
    expect(Buffer.from(served)).toEqual(Buffer.from(gif()));
  });

  test('an animation of many pictures with a long colour profile is kept, and has other sizes', async () => {
    const { status, body } = await sent(animationWith(8_000_000, 2000));
    expect([status, body.width, body.height]).toEqual([201, 1, 1]);
    const resize = () => fetch(`${service.url}${body.url}?w=64`).then(response => response.bytes());
    expect(await processorTime(resize)).toBeLessThan(1000);
  });

  test('a text of a form that is longer than 64 KiB is refused before it is read', async () => {
    const form = (length: number) => {
      const data = new FormData();
      data.set('file', new Blob([plainPng(4, 4, 7, 7, length & 255)]));
      data.set('alt', 'a'.repeat(length));
      return data;
    };
    const { status, body } = await sent(form(19_000_000));
    expect([status, body.error]).toEqual([400, 'VALIDATION_FAILED']);
    expect(body.details).toEqual([
      { field: 'alt', pointer: '#/alt', code: 'maxLength', message: 'must be at most 65536 bytes long' },
    ]);
    expect((await sent(form(200))).status).toBe(201);
  });
});
