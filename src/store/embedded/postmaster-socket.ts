import { open, readdir, rm } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";

/** Where PostgreSQL listens besides its port: in its current folder, the cluster, as paths of sockets must be short. */
export const SOCKET_FOLDER = ".";

const SOCKET = /^\.s\.PGSQL\.\d+$/;
const NOBODY_LISTENS = ["ENOENT", "ECONNREFUSED"];

/**
 * Whether a PostgreSQL of any container on this machine runs in the cluster, also one whose Tollgate was
 * killed or is paused. Only on Linux: elsewhere all processes see each other.
 */
export async function listensOnSocket(cluster: string): Promise<boolean> {
  if (process.platform !== "linux") return false;
  const folder = await open(cluster);
  try {
    const sockets = (await readdir(cluster)).filter((name) => SOCKET.test(name));
    const accepted = await Promise.all(
      sockets.map((name) => isAccepted(`/proc/self/fd/${folder.fd}/${name}`)),
    );
    return accepted.includes(true);
  } finally {
    await folder.close();
  }
}

function isAccepted(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    socket.on("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", ({ code }: NodeJS.ErrnoException) => resolve(!NOBODY_LISTENS.includes(code ?? "")));
  });
}

/** Removes what a crash has left: its pid may be that of another process, too. */
export async function removeSocketLocks(cluster: string): Promise<void> {
  for (const name of await readdir(cluster)) {
    if (/^\.s\.PGSQL\.\d+\.lock$/.test(name)) await rm(join(cluster, name), { force: true });
  }
}
