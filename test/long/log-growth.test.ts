/** SQLite's write-ahead log under constant writes and reads by many clients: it stays small, and a stop removes it. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestService, type TestService } from '../support/service/service.ts';

const writers = 64;
const readers = 8;
const creates = 7000;
/** As long as is allowed: it is stored twice, as a column and in the representation. */
const description = 'x'.repeat(10_000);

const page = 4096;
/**
 * The size to which a log is truncated when it is reused. It is copied into the database at half this size, so a log
 * that grows further is one that readers or writers keep from being copied, and would grow without end.
 */
const sizeLimit = 64 * 1024 * 1024;
/** A transaction cannot be split: each create in a group changes about 20 pages: product, indexes and totals. */
const oneGroup = writers * 20 * page;
const bound = sizeLimit + oneGroup;

let folder: string;
let service: TestService;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'catalog-log-'));
  service = await startTestService('sqlite', { DATA_DIR: folder });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('under load the log stays below its bound, and a clean stop leaves none', async () => {
  const file = join(folder, 'catalog.db');
  const log = `${file}-wal`;
  const headers = { Authorization: `Bearer ${service.tokens.editor}`, 'Content-Type': 'application/json' };
  let sent = 0;
  let largest = 0;
  async function write(): Promise<void> {
    while (sent < creates) {
      const body = JSON.stringify({ name: `Lamp ${++sent}`, price: 1, description });
      const response = await fetch(`${service.url}/v1/products`, { method: 'POST', headers, body });
      expect(response.status).toBe(201);
      await response.arrayBuffer();
      largest = Math.max(largest, statSync(log).size);
    }
  }
  let writing = true;
  async function read(reader: number): Promise<number> {
    let lists = 0;
    for (; writing; lists++) {
      // Another page each time, so that no response comes from a cache.
      const path = `/v1/products?perPage=100&page=${1 + ((lists * readers + reader) % 50)}`;
      const response = await fetch(`${service.url}${path}`, { headers });
      expect(response.status).toBe(200);
      await response.arrayBuffer();
    }
    return lists;
  }
  const reading = Promise.all(Array.from({ length: readers }, (_, reader) => read(reader)));
  await Promise.all(Array.from({ length: writers }, write)).finally(() => {
    writing = false;
  });
  for (const lists of await reading) expect(lists).toBeGreaterThan(0);
  expect(largest).toBeLessThanOrEqual(bound);

  await service.stop();
  expect([log, `${file}-shm`].filter(existsSync)).toEqual([]);
  // All of this went through the log, which never held more than the bound.
  expect(statSync(file).size).toBeGreaterThan(bound);
}, 300_000);
