/** A bare Bun.serve, the least that the service could cost. PORT and BODY come from the environment. */
const body = process.env.BODY ?? '';
const headers = { 'Content-Type': 'application/json' };

Bun.serve({
  port: Number(process.env.PORT),
  hostname: '127.0.0.1',
  fetch: () => new Response(body, { headers }),
});
