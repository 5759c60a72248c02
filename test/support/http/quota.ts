/** Services with a small quota, and the quota headers of their responses. */

import { type DatabaseKind, startTestService, type TestService } from '../service/service.ts';
import type { Call, Received } from './http.ts';

export const limit = 5;
export const me: Call = { path: '/v1/me', as: 'user' };
export const remaining = ({ headers }: Received) => Number(headers.get('X-RateLimit-Remaining'));

/** @returns a function that runs a scenario on a service, and thus with a quota, of its own */
export const serviceWith =
  (kind: DatabaseKind) =>
  async (settings: Record<string, string>, scenario: (service: TestService) => Promise<void>) => {
    const service = await startTestService(kind, { RATE_LIMIT: String(limit), ...settings });
    try {
      await scenario(service);
    } finally {
      await service.stop();
    }
  };
