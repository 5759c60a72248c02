/**
 * s3rver on a free port, which it prints; it ends with its standard input. By Node: Bun finds another version of a
 * library of its than the one that is installed for it.
 */
import { rm } from 'node:fs/promises';
import S3rver from 's3rver';

const [directory, bucket] = process.argv.slice(2);
const buckets = [{ name: bucket, configs: [] }];
const options = { port: 0, address: '127.0.0.1', silent: true, directory, configureBuckets: buckets };
const server = new S3rver(options);
const { store } = server;
// Its own function also removes the folders that a deletion empties, and the server ends when another request is about
// to write a file there.
store.deleteObject = async (...object) => {
  const files = ['object', 'object.md5', 'metadata.json'].map(part => store.getResourcePath(...object, part));
  await Promise.all(files.map(file => rm(file, { force: true })));
};
const { port } = await server.run();
console.log(port);
process.stdin.on('end', () => process.exit(0)).resume();
