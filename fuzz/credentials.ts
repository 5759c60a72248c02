/** Callers, as headers: existing users and API keys, and credentials that are invalid in every way. */
import type { Operation } from '../test/support/http/contract.ts';
import { call } from '../test/support/http/http.ts';
import type { Walk } from '../test/support/http/walk.ts';
import { decode, forge } from '../test/support/peers/jwt.ts';
import { emailOf, password, type TestService } from '../test/support/service/service.ts';
import type { Who } from './requests.ts';

type Header = readonly [name: string, value: string];

export type Credentials = (who: Who, operation: Operation | undefined) => readonly Header[];

export async function credentialsOf(service: TestService, walk: Walk): Promise<Credentials> {
  const body = { email: emailOf('editor'), password };
  const signedIn = await call(service, { method: 'POST', path: '/v1/auth/login', body });
  const { admin, user } = service.tokens;
  const bearer = (token: string): Header => ['Authorization', `Bearer ${token}`];
  const { payload, header } = decode(admin);
  const [head, claims, signature] = admin.split('.');
  const forged: readonly (readonly Header[])[] = [
    [bearer(signedIn.body.refreshToken)],
    [bearer(forge(payload, { header: { alg: 'none', typ: 'JWT' }, hash: '' }))],
    [bearer(forge(payload, { header: { alg: 'HS512', typ: 'JWT' }, hash: 'sha512' }))],
    [bearer(forge({ ...payload, exp: 1 }))],
    [bearer(forge({ ...payload, exp: 'never' }))],
    [bearer(forge({ ...payload, role: 'root' }))],
    [bearer(forge({ ...payload, userId: "1' or 1=1" }))],
    [bearer(forge({ ...payload, userId: '99999999999' }))],
    [bearer(forge({}))],
    [bearer(forge(payload, { secret: 'another secret that is long enough for HS256' }))],
    [bearer(forge(payload, { header: { ...header, kid: '../../dev/null', jku: 'http://127.0.0.1:9' } }))],
    [bearer(`${head}.${claims}.`)],
    [bearer(`${head}.${claims}`)],
    [bearer(`${head}.${claims}.${signature}.${signature}`)],
    [bearer(`${head}.e30.${signature}`)],
    [bearer('...')],
    [bearer('x'.repeat(6000))],
    [bearer('\u00ff')],
    [bearer(`${admin} ${user}`)],
    [bearer(admin), bearer(user)],
    [['Authorization', 'Basic YWRtaW46YWRtaW4=']],
    [['Authorization', 'Bearer']],
    [['Authorization', '']],
    [['Authorization', `Token ${admin}`]],
    [['X-API-Key', '']],
    [['X-API-Key', `ck_${'A'.repeat(43)}`]],
    [['X-API-Key', "' or 1=1 --"]],
    [['X-API-Key', admin]],
    [bearer(user), ['X-API-Key', 'ck_x']],
  ];
  return (who, operation) => {
    if (who === 'nobody') return [];
    if (typeof who === 'string' && who !== 'admitted') return [bearer(service.tokens[who])];
    if (typeof who !== 'string') {
      const chosen = forged[who.forged];
      return chosen ?? (operation === undefined ? [] : [['X-API-Key', walk.refusedKey(operation)]]);
    }
    if (operation === undefined) return [bearer(admin)];
    const { as, headers = {} } = walk.credentials(operation);
    return [...Object.entries(headers), ...(as === undefined ? [] : [bearer(service.tokens[as])])];
  };
}
