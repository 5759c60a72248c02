/** Standard input of an import that has to read it twice: what is copied of it is gone when the import ends. */
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
  test(`${signal} ends an import that waits for the rest of its standard input, and no copy stays`, async () => {
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
