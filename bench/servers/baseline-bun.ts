/** A bare Bun.serve: what the service could cost at best. PORT and BODY come from the environment. */
const body = process.env.BODY ?? '';
const headers = { 'Content-Type': 'application/json' };

Bun.serve({
  port: Number(process.env.PORT),
  hostname: '127.0.0.1',
  fetch: () => new Response(body, { headers }),
});
