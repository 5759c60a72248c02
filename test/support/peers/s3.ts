/** An S3-compatible server for tests, in a process of its own, with its files in a folder of its own. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TestS3 {
  /** For MEDIA_URL. */
  readonly url: string;
  /** Bun's client for the same bucket. */
  readonly client: Bun.S3Client;
  stop(): Promise<void>;
}

const key = 'S3RVER';
const bucket = 'media';

export async function startS3(): Promise<TestS3> {
  const directory = mkdtempSync(join(tmpdir(), 'catalog-s3-'));
  const child = Bun.spawn(['node', join(import.meta.dir, 's3-server.mjs'), directory, bucket], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const { value } = await child.stdout.getReader().read();
  const endpoint = `http://127.0.0.1:${Buffer.from(value ?? [])
    .toString()
    .trim()}`;
  const region = 'us-east-1';
  return {
    url: `s3://${key}:${key}@${bucket}/some/prefix?endpoint=${encodeURIComponent(endpoint)}&region=${region}`,
    client: new Bun.S3Client({ accessKeyId: key, secretAccessKey: key, bucket, endpoint, region }),
    async stop() {
      child.stdin.end();
      await child.exited;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
