import { defineVersions } from "./src/domain/api-version.ts";

/**
 * The versions of the API that are served, and which of them a client gets that asks for none. To retire one, set
 * `deprecated: true` and the day of its `sunset`; from the next start on every answer of it says so.
 */
export default defineVersions({
  current: "v1",
  versions: {
    v1: { deprecated: false },
    v2: { deprecated: false },
  },
});
