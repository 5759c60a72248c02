/** Animations and GIFs whose first picture fills only a part of the whole: other sizes keep its position. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { decodePixels } from '../../src/media/pixels.ts';
import { addProduct } from '../support/data/catalog.ts';
import { sendImage } from '../support/data/images.ts';
import { startTestService, type TestService } from '../support/service/service.ts';

/** 200 × 100, with 40 × 40 red pixels 50 from the left and 20 from the top. */
const partOfGif = Buffer.from(
  'R0lGODlhyABkAPAAAPoAAAAAACH5BAAAAAAALDIAFAAoACgAAAInhI+py+0Po5y02ouz3rz7D4biSJbmiabqyrbuC8fyTNf2jef6ziMFADs=',
  'base64',
);
/** 400 × 200, with 100 × 100 red pixels 100 from the left and 50 from the top; the second picture is blue all over. */
const partOfWebp = Buffer.from(
  'UklGRpQAAABXRUJQVlA4WAoAAAACAAAAjwEAxwAAQU5JTQYAAAD/////AABBTk1GLgAAADIAABkAAGMAAGMAAGQAAABWUDhMFgAAAC9jwBgABxDVj/6HAUgI//dLEf1PJQJBTk1GMgAAAAAAAAAAAI8BAMcAAGQAAABWUDhMGQAAAC+PwTEABxBR/f4HBCRJ//+HEf3P+M//IQIA',
  'base64',
);

let service: TestService;
beforeAll(async () => {
  service = await startTestService('sqlite');
});
afterAll(() => service.stop());

const keep = async (file: Uint8Array): Promise<string> =>
  (await sendImage(service, await addProduct(service), file)).body.url;
const get = async (path: string): Promise<Uint8Array> => (await fetch(service.url + path)).bytes();

/** The size of a picture, and its colours at the top left, near the bottom right and inside the first picture. */
async function describePicture(picture: Uint8Array, [x, y]: readonly [number, number]): Promise<unknown> {
  const { width, height, rgba } = await decodePixels(new Bun.Image(picture));
  const nameColour = (left: number, top: number): string => {
    const start = (Math.floor(top * height) * width + Math.floor(left * width)) * 4;
    const [red = 0, green = 0, , opacity = 0] = rgba.subarray(start, start + 4);
    return opacity < 20 ? 'clear' : green > 230 ? 'white' : red > 200 && green < 40 ? 'red' : 'else';
  };
  return [width, height, nameColour(0, 0), nameColour(0.9, 0.9), nameColour(x, y)];
}

const scenarios = [
  ['a GIF', 'w=100', partOfGif, [100, 50, 'clear', 'clear', 'red'], [0.35, 0.4]],
  ['a GIF', 'format=png', partOfGif, [200, 100, 'clear', 'clear', 'red'], [0.35, 0.4]],
  ['a GIF', 'format=jpeg', partOfGif, [200, 100, 'white', 'white', 'red'], [0.35, 0.4]],
  ['a GIF', 'w=64&h=64&fit=cover', partOfGif, [64, 64, 'clear', 'clear', 'red'], [0.2, 0.4]],
  ['an animation', 'w=200', partOfWebp, [200, 100, 'clear', 'clear', 'red'], [0.35, 0.4]],
  ['an animation', 'format=jpeg', partOfWebp, [400, 200, 'white', 'white', 'red'], [0.35, 0.4]],
  ['an animation', 'w=100&h=100&fit=fill', partOfWebp, [100, 100, 'clear', 'clear', 'red'], [0.35, 0.4]],
] as const;
test.each(scenarios)('%s whose first picture is a part, with %s', async (_, query, file, expected, place) => {
  const picture = await get(`${await keep(file)}?${query}`);
  expect(await describePicture(picture, place)).toEqual([...expected]);
});

test('the first picture of an animation keeps the colour profile of the whole', async () => {
  const profile = Buffer.from('ICCP\x14\0\0\0a profile of colours', 'latin1');
  const head = partOfWebp.subarray(0, 30);
  const file = Buffer.concat([head, profile, partOfWebp.subarray(30)]);
  file.writeUInt32LE(file.length - 8, 4);
  file[20] = 0x22;
  const small = await get(`${await keep(file)}?w=64`);
  expect(Buffer.from(small).includes('a profile of colours')).toBe(true);
});
