import { once } from "node:events";
import { mkdir, readdir, readlink, symlink, writeFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { builtFiles } from "../../../src/runtime/pages/built-files.ts";
import { type LocalServer, listen, sendRequest } from "../../support/http.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

let folder: string;
let server: LocalServer;
const sockets: Socket[] = [];
beforeEach(async () => {
  folder = join(await temporaryFolder(), ".next/static");
  await mkdir(join(folder, "chunks"), { recursive: true });
  server = await listen(builtFiles(join(folder, "../..")));
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server.close();
});

/** Those of the build that this process has open. */
async function openFiles(): Promise<string[]> {
  const descriptors = await readdir("/proc/self/fd");
  const targets = await Promise.all(
    descriptors.map((descriptor) => readlink(`/proc/self/fd/${descriptor}`).catch(() => "")),
  );
  return targets.filter((target) => target.startsWith(folder));
}

it.skipIf(process.platform !== "linux")("holds no file open for clients that read slowly", async () => {
  // More than the system takes for a client that does not read.
  const bytes = 32 * 1024 * 1024;
  await writeFile(join(folder, "chunks/large.js"), Buffer.alloc(bytes, "x"));
  const { port } = new URL(server.url);
  for (let n = 0; n < 3; n += 1) {
    const socket = connect(Number(port), "127.0.0.1");
    sockets.push(socket);
    socket.write("GET /_next/static/chunks/large.js HTTP/1.1\r\nHost: x\r\n\r\n");
    const [beginning] = (await once(socket, "data")) as [Buffer];
    socket.pause();
    expect(beginning.toString()).toMatch(
      new RegExp(`^HTTP/1.1 200 [\\s\\S]*content-length: ${bytes}\r\n`, "i"),
    );
  }
  expect(await openFiles()).toEqual([]);
});

it("serves files built after the start, and whole ones for a range", async () => {
  const get = (method = "GET", headers = {}) =>
    sendRequest(server.url, method, "/_next/static/chunks/a.js", { headers });
  expect((await get()).status).toBe(404);
  await writeFile(join(folder, "chunks/a.js"), "0123456789");
  await writeFile(join(folder, "chunks/a.js.gz"), "zipped");
  expect(await get()).toMatchObject({
    text: "0123456789",
    fields: { "content-length": "10", vary: "Accept-Encoding" },
  });
  expect(await get("HEAD")).toMatchObject({
    status: 200,
    text: "",
    fields: { "content-length": "10", vary: "Accept-Encoding" },
  });
  expect(await get("GET", { range: "bytes=9-1" })).toMatchObject({ status: 200, text: "0123456789" });
  expect(await get("GET", { "accept-encoding": "br, gzip;q=0.5" })).toMatchObject({
    text: "zipped",
    fields: { "content-encoding": "gzip", "content-length": "6", vary: "Accept-Encoding" },
  });
});

it("answers an error of its own length when a compressed file cannot be read", async () => {
  await writeFile(join(folder, "chunks/a.js"), "0123456789");
  await symlink("b.js.br", join(folder, "chunks/b.js.br"));
  await writeFile(join(folder, "chunks/b.js"), "x".repeat(5_000));
  const answer = await sendRequest(server.url, "GET", "/_next/static/chunks/b.js", {
    headers: { "accept-encoding": "br" },
  });
  expect(answer).toMatchObject({ status: 500, text: "Internal Server Error" });
});

it.each(["chunks", "chunks/", "chunks/a.js/b.js", "%00", `${"x".repeat(300)}.js`])(
  "serves nothing for %s",
  async (path) => {
    await writeFile(join(folder, "chunks/a.js"), "0123456789");
    expect((await sendRequest(server.url, "GET", `/_next/static/${path}`)).status).toBe(404);
  },
);
