import { cache } from "react";
import type { z } from "zod";
import { execute } from "../../../../operations/operation.ts";
import { searchUsers } from "../../../../operations/users/search-users.ts";
import { refusalOf } from "../../../gate/refusal.ts";
import { currentRequest, requireUser } from "../../../gate/request.ts";

type FoundUser = z.output<typeof searchUsers.output>["items"][number];

/** Whom the id names; `null`: nobody. Not charged, as it is a part of what is. @throws Refusal for who may not know */
export const findUser = cache(async (id: string): Promise<FoundUser | null> => {
  // Not counted either: it is not by itself that it is asked.
  const deps = { ...currentRequest().deps, observe: null };
  const call = { caller: await requireUser(), charges: [] };
  try {
    const { items } = await execute({ ...searchUsers, limit: null }, deps, call, () => ({
      search: id,
      limit: 1,
    }));
    const [first] = items;
    return first?.id === id ? first : null;
  } catch (error) {
    if (refusalOf(error)?.code === "invalid_input") return null;
    throw error;
  }
});
