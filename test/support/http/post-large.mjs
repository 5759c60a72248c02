/** Posts blanks with a client of Node's own and prints the status: `post-large.mjs fetch|http|chunked URL BYTES TOKEN`. */
import http from 'node:http';

const [client, url, bytes, token] = process.argv.slice(2);
const body = Buffer.alloc(Number(bytes), 0x20);
const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };

if (client === 'fetch') {
  const response = await fetch(url, { method: 'POST', headers, body });
  await response.text();
  console.log(response.status);
} else {
  const length = client === 'http' ? { 'Content-Length': body.length } : {};
  const request = http.request(url, { method: 'POST', headers: { ...headers, ...length } }, response => {
    response.resume();
    response.on('end', () => console.log(response.statusCode));
  });
  for (let at = 0; at < body.length; at += 65_536) request.write(body.subarray(at, at + 65_536));
  request.end();
}
