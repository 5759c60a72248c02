/**
 * Answers of lists, remembered under the version of the collection they show. The version is advanced in the
 * transaction of every change and read before the answer is, so what is remembered is never stale: it is
 * given again only while nothing in the collection has changed.
 */
import { LRUCache } from 'lru-cache';
import { entityTag } from './conditional.ts';
import type { RequestUrl } from './endpoint.ts';
import { ok, type Reply } from './reply.ts';

/** Characters of remembered answers at most. */
const rememberedSize = 16 * 1024 * 1024;

interface Remembered {
  readonly version: number;
  readonly reply: Reply;
}

export interface RememberedAnswers {
  /**
   * @param version reads the collection's version as it is now
   * @param make makes the body, from data of that version or a later one
   */
  answer(url: RequestUrl, version: () => Promise<number>, make: () => Promise<string>): Promise<Reply>;
}

export function rememberedAnswers(): RememberedAnswers {
  const answers = new LRUCache<string, Remembered>({
    maxSize: rememberedSize,
    sizeCalculation: ({ reply }, key) => key.length + (reply.body?.length ?? 0) + 200,
  });
  return {
    async answer({ base, path, search }, version, make) {
      const key = `${base}${path}?${search}`;
      const current = await version();
      const known = answers.get(key);
      if (known !== undefined && known.version === current) return known.reply;
      const body = await make();
      const reply = { ...ok(body), etag: entityTag(body) };
      answers.set(key, { version: current, reply });
      return reply;
    },
  };
}
