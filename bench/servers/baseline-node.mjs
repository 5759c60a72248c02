/** A bare node:http server: the yardstick. PORT and BODY come from the environment. */
import { createServer } from 'node:http';

const body = process.env.BODY;
const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };

createServer((_, response) => {
  response.writeHead(200, headers);
  response.end(body);
}).listen(Number(process.env.PORT), '127.0.0.1');
