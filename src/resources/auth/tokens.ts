/**
 * JSON Web Tokens (RFC 7519) signed with HS256. The algorithm is fixed here, never taken from the token. Verified
 * tokens are cached, so that a request costs a lookup instead of a signature check.
 */
import { errors, jwtVerify, SignJWT } from 'jose';
import { createBoundedMap } from '../../bounded-map.ts';
import { type Caller, type Role, roles, type UserCaller } from '../../http/access.ts';
import type { ErrorCode } from '../../http/errors.ts';
import { runWhenReady } from '../../http/when-ready.ts';
import { type Clock, maxClockSkewMs } from '../../ports/clock.ts';
import type { Secrets } from '../../secrets/index.ts';
import type { StoredUser } from '../users/store.ts';
import type { EndedSessions } from './ended-sessions.ts';
import { accessLifetime, refreshLifetime } from './lifetimes.ts';

const cachedTokens = 10_000;
/** Three parts of base64url without padding (RFC 7515 §2 and §3.1); jose also accepts a padded signature. */
const compactForm = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** The fields of a user that an access token carries. */
type TokenUser = Pick<StoredUser, 'id' | 'role' | 'session_generation'>;

/** @param secrets the first one signs; all verify, so that a secret can be replaced while tokens live */
export function createTokens(secrets: Secrets, clock: Clock, ended: Pick<EndedSessions, 'has' | 'known'>) {
  const [signingKey, ...previous] = secrets.map(secret => new TextEncoder().encode(secret));
  if (signingKey === undefined) throw new Error('at least one secret is needed');
  const keys = [signingKey, ...previous];
  const cached = createBoundedMap<string, { readonly caller: UserCaller; readonly expiresAt: number }>(
    cachedTokens,
  );
  const readSeconds = () => Math.floor(clock.now() / 1000);
  /**
   * Whether an access token has expired, or was issued before the clock was set back: the latter would outlive the
   * record of ended sessions.
   */
  function isOver(expiresAt: number): boolean {
    const left = expiresAt - readSeconds();
    return left <= 0 || left > accessLifetime + maxClockSkewMs / 1000;
  }

  const sign = (claims: Record<string, unknown>, lifetime: number) =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setIssuedAt(readSeconds())
      .setExpirationTime(readSeconds() + lifetime)
      .setJti(crypto.randomUUID())
      .sign(signingKey);

  async function verify(token: string): Promise<Record<string, unknown> | ErrorCode> {
    if (!compactForm.test(token)) return 'UNAUTHORIZED';
    for (const key of keys) {
      try {
        const options = {
          algorithms: ['HS256'],
          requiredClaims: ['exp'],
          currentDate: new Date(clock.now()),
        };
        return (await jwtVerify(token, key, options)).payload;
      } catch (error) {
        if (error instanceof errors.JWTExpired) return 'TOKEN_EXPIRED';
        if (!(error instanceof errors.JWSSignatureVerificationFailed)) return 'UNAUTHORIZED';
      }
    }
    return 'UNAUTHORIZED';
  }

  async function verifyUncached(token: string): Promise<Caller | ErrorCode> {
    const claims = await verify(token);
    if (typeof claims === 'string') return claims;
    const caller = toCaller(claims);
    if (caller === undefined) return 'UNAUTHORIZED';
    const expiresAt = Number(claims.exp);
    if (isOver(expiresAt)) return 'TOKEN_EXPIRED';
    cached.set(token, { caller, expiresAt });
    await ended.known(clock.now());
    return admitUnlessEnded(caller);
  }

  const admitUnlessEnded = (caller: UserCaller): Caller | ErrorCode =>
    ended.has(caller.userId, caller.generation) ? 'UNAUTHORIZED' : caller;

  return {
    signAccess: ({ id, role, session_generation: generation }: TokenUser) =>
      sign({ userId: String(id), role, use: 'access', generation }, accessLifetime),
    signRefresh: (userId: number, sessionId: string) =>
      sign({ userId: String(userId), sessionId, use: 'refresh' }, refreshLifetime),
    /** The caller that an access token identifies, or the error code if it is not valid. */
    verifyAccess(token: string): Caller | ErrorCode | Promise<Caller | ErrorCode> {
      const known = cached.get(token);
      if (known === undefined) return verifyUncached(token);
      if (isOver(known.expiresAt)) return 'TOKEN_EXPIRED';
      return runWhenReady(ended.known(clock.now()), () => admitUnlessEnded(known.caller));
    },
    /** The session that a refresh token belongs to, or the error code if it is not valid. */
    async verifyRefresh(token: string): Promise<{ readonly sessionId: string } | ErrorCode> {
      const claims = await verify(token);
      if (typeof claims === 'string') return claims;
      const { use, sessionId } = claims;
      return use === 'refresh' && typeof sessionId === 'string' ? { sessionId } : 'UNAUTHORIZED';
    },
  };
}

/** The caller that the claims describe; undefined if they are not those of an access token. */
function toCaller({ userId, role, use, generation }: Record<string, unknown>): UserCaller | undefined {
  const known: Role | undefined = roles.find(name => name === role);
  if (
    use === 'refresh' ||
    known === undefined ||
    typeof userId !== 'string' ||
    !/^[1-9]\d{0,9}$/.test(userId)
  ) {
    return undefined;
  }
  return {
    kind: 'user',
    subject: `user:${userId}`,
    userId: Number(userId),
    role: known,
    // Tokens from releases before generations existed lack it.
    generation: typeof generation === 'number' ? generation : 0,
  };
}
