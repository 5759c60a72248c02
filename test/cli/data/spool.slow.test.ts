/** Imports that must read a stream twice: the copy of the stream is removed when the import ends. */
import { expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { shopifyFile } from '../../support/samples/shop-files.ts';
import { onCatalog } from '../program.ts';

async function untilCopying(folder: string): Promise<void> {
  while (readdirSync(folder, { recursive: true }).length < 2)
    await new Promise(resolve => setImmediate(resolve));
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  test(`${signal} ends an import that waits for the rest of its standard input, and leaves no temporary copy`, async () => {
    const temporary = mkdtempSync(join(tmpdir(), 'catalog-spool-'));
    await onCatalog(
      async place => {
        const running = place.start(['import', '-', '--preset', 'shopify']);
        running.stdin.write(shopifyFile);
        await running.stdin.flush();
        await untilCopying(temporary);
        running.kill(signal);
        expect(await running.exited).toBe(130);
        expect(readdirSync(temporary)).toEqual([]);
      },
      { TMPDIR: temporary },
    );
    rmSync(temporary, { recursive: true });
  });
}

/** Makes a named pipe, like that of a shell for `<(gunzip -c …)`. */
function makePipe(folder: string): string {
  const pipe = join(folder, 'pipe');
  expect(Bun.spawnSync(['mkfifo', pipe]).exitCode).toBe(0);
  return pipe;
}

test('a pipe is copied like standard input, and the rows of each product are joined', async () => {
  const temporary = mkdtempSync(join(tmpdir(), 'catalog-spool-'));
  const pipe = makePipe(mkdtempSync(join(temporary, 'named-')));
  await onCatalog(
    async place => {
      const written = Bun.spawn(['sh', '-c', 'cat > "$1"', 'sh', pipe], { stdin: Buffer.from(shopifyFile) });
      const piped = await place.run(['import', pipe, '--preset', 'shopify']);
      expect(await written.exited).toBe(0);
      const again = await place.run(['import', '-', '--preset', 'shopify'], shopifyFile);
      expect(piped.out).toMatch(/^[1-9]\d* created, 0 updated, 0 unchanged, 0 rejected/);
      expect(again.out).toMatch(/^0 created, 0 updated, [1-9]\d* unchanged, 0 rejected/);
      expect(readdirSync(temporary)).toEqual([expect.stringMatching(/^named-/)]);
    },
    { TMPDIR: temporary },
  );
  rmSync(temporary, { recursive: true });
});

test('JSON without an array of records is refused from a pipe, which is read only once', async () => {
  const temporary = mkdtempSync(join(tmpdir(), 'catalog-pipe-'));
  const pipe = makePipe(temporary);
  await onCatalog(async place => {
    const text = Buffer.from('{"data": {"items": {"list": [{"name": "Lamp", "price": 1}]}}}');
    const written = Bun.spawn(['sh', '-c', 'cat > "$1"', 'sh', pipe], { stdin: text });
    const ended = await place.run(['import', pipe, '--format', 'json', '--path', 'rows']);
    expect(await written.exited).toBe(0);
    expect([ended.status, ended.err]).toEqual([1, expect.stringContaining('name the member')]);
  });
  rmSync(temporary, { recursive: true });
});
