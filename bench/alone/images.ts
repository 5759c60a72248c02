/** The cost of inspecting images, refusing hostile ones, and making variants: the figures of decision 29. */
import { inspectImage } from '../../src/media/inspect/index.ts';
import { createLimiter } from '../../src/media/limiter.ts';
import { prepareImage } from '../../src/media/prepare.ts';
import { makeVariant } from '../../src/media/variants.ts';
import { jpeg, png } from '../../test/support/data/images.ts';

const limits = { pixels: 50_000_000 };
const limiter = createLimiter(limits.pixels);

async function measure(name: string, work: () => Promise<unknown>): Promise<void> {
  const times: number[] = [];
  let outcome = 'taken';
  for (let round = 0; round < 5; round++) {
    const begun = performance.now();
    await work().catch(error => {
      outcome = String(error.message);
    });
    times.push(performance.now() - begun);
  }
  const median = times.sort((a, b) => a - b)[2] ?? 0;
  const memory = Math.round(process.memoryUsage.rss() / 1e6);
  console.log(
    `${name.padEnd(44)} ${median.toFixed(1).padStart(8)} ms  ${memory} MB  ${outcome.slice(0, 60)}`,
  );
}

const photo = Buffer.from(
  await new Bun.Image(await jpeg(600, 400)).resize(6000, 4000).jpeg({ quality: 90 }).bytes(),
);
const large = Buffer.from(await new Bun.Image(photo).png({ compressionLevel: 1 }).bytes());
const scan = photo.indexOf(Buffer.of(0xff, 0xda));
const long = Buffer.concat([
  photo.subarray(0, scan + 2 + photo.readUInt16BE(scan + 2)),
  Buffer.alloc(20_000_000, Buffer.of(0xff, 0)),
  Buffer.of(0xff, 0xd9),
]);
const [huge, bomb] = [
  png(50_000, 50_000, { data: new Uint8Array(9) }),
  png(100, 100, { data: new Uint8Array(400_000_000) }),
];
Bun.gc(true);
await measure('PNG of 50,000 × 50,000', () => inspectImage(huge, limits));
await measure('PNG of 100 × 100 that inflates to 400 MB', () => inspectImage(bomb, limits));
await measure('JPEG of 20 MB, looked through', () => inspectImage(long, limits));
await measure('JPEG of 24 megapixels, kept', () => prepareImage(photo, limits, limiter));
await measure('PNG of 24 megapixels, kept', () => prepareImage(large, limits, limiter));
for (const [name, file] of [
  ['JPEG', photo],
  ['PNG', large],
] as const) {
  const request = { w: 1280, h: undefined, fit: 'contain', format: 'webp' } as const;
  await measure(`${name} of 24 megapixels → 1,280 of WebP`, () =>
    makeVariant(file, request, limits, limiter),
  );
  const cut = { w: 800, h: 800, fit: 'cover', format: 'jpeg' } as const;
  await measure(`${name} of 24 megapixels → 800 × 800, cut`, () => makeVariant(file, cut, limits, limiter));
}
