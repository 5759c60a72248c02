/** If standard output cannot be written, log lines are lost, but the service keeps running. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { createPlace, type Place, waitFor } from '../program.ts';

/** Runs in the process before the program: raises an error that is logged at once, and signals that it was. */
const failing = `process.on('SIGUSR2', () => {
  setTimeout(() => { throw Object.create(null); });
  setTimeout(() => { throw new Error('thrown in the background'); });
  setTimeout(() => console.error('was thrown'), 10);
});`;

describe.skipIf(process.platform !== 'linux')('standard output', () => {
  let place: Place;
  beforeAll(async () => {
    const administrator = { ADMIN_EMAIL: 'admin@test.example', ADMIN_PASSWORD: 'correct horse battery' };
    place = await createPlace('sqlite', { ...administrator, HOST: '127.0.0.1' });
  });
  afterAll(() => place.remove());

  async function serveInto(output: string) {
    const preload = place.file('failing.ts', failing);
    const environment = ['env', `BUN_OPTIONS=--preload=${preload}`, `OUTPUT=${output}`];
    const child = place.start(
      ['serve', '--port', '0'],
      [...environment, 'sh', '-c', 'exec "$@" > "$OUTPUT"', 'sh'],
    );
    const [, url = ''] = await waitFor(child.stderr, /ready at (http:\S+)/);
    const fail = async () => {
      child.kill('SIGUSR2');
      await waitFor(child.stderr, /was thrown/);
    };
    const health = async () => (await fetch(`${url}/health`)).status;
    return { child, fail, health };
  }

  test('on a full disk does not stop the service', async () => {
    const { child, fail, health } = await serveInto('/dev/full');
    for (let round = 0; round < 3; round++) {
      await fail();
      expect(await health()).toBe(200);
    }
    child.kill('SIGTERM');
    expect(await child.exited).toBe(0);
  });

  test('whose reader is gone drops lines, and reports that to the next reader in whole lines', async () => {
    const fifo = join(place.folder, 'log');
    Bun.spawnSync(['mkfifo', fifo]);
    const first = Bun.spawn(['cat', fifo], { stdout: 'ignore' });
    const { child, fail, health } = await serveInto(fifo);
    first.kill();
    await first.exited;
    await fail();
    expect(await health()).toBe(200);
    const second = Bun.spawn(['cat', fifo], { stdout: 'pipe' });
    const [out, rest] = second.stdout.tee();
    let isThere = false;
    void waitFor(out, /"log lines were dropped","batches":\d+\}\n.*"request"/s).then(() => {
      isThere = true;
    });
    while (!isThere) expect(await health()).toBe(200);
    child.kill('SIGTERM');
    expect(await child.exited).toBe(0);
    const lines = (await rest.text()).split('\n').filter(line => line !== '');
    const messages = lines.map(line => JSON.parse(line).message);
    expect(messages).toContain('log lines were dropped');
    expect(messages.at(-1)).toBe('stopping');
  });
});
