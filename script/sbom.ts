import { readFile } from "node:fs/promises";
import { resolve } from "node:path";

// `npm sbom --omit=dev` leaves out packages that are also peers of others: React, Next.js and zod among them.

type Locked = {
  version: string;
  license?: string;
  integrity?: string;
  dev?: boolean;
  optional?: boolean;
  link?: boolean;
};

const root = resolve(import.meta.dirname, "..");
const lock = JSON.parse(await readFile(resolve(root, "package-lock.json"), "utf8")) as {
  name: string;
  version: string;
  packages: Record<string, Locked>;
};

const components = new Map<string, object>();
for (const [path, locked] of Object.entries(lock.packages)) {
  if (path === "" || locked.dev || locked.link) continue;
  const name = path.replace(/^.*node_modules\//, "");
  const purl = `pkg:npm/${name.replace("@", "%40")}@${locked.version}`;
  components.set(purl, {
    ...{ type: "library", "bom-ref": purl, name, version: locked.version, purl },
    scope: locked.optional ? "optional" : "required",
    ...(locked.license && { licenses: [{ expression: locked.license }] }),
    ...(locked.integrity && { hashes: [hashOf(locked.integrity)] }),
  });
}

const application = { type: "application", "bom-ref": "tollgate", name: lock.name, version: lock.version };
const document = {
  ...{ bomFormat: "CycloneDX", specVersion: "1.6", version: 1 },
  metadata: { component: application },
  components: [...components.values()],
};
process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);

/** Subresource integrity: `sha512-` and base64. */
function hashOf(integrity: string): object {
  const [algorithm = "", digest = ""] = integrity.split("-");
  return { alg: algorithm.replace("sha", "SHA-"), content: Buffer.from(digest, "base64").toString("hex") };
}
