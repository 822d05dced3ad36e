import { cache } from "react";
import { unreadCount } from "../../operations/notifications/unread-count.ts";
import { nullOnError } from "../gate/null-on-error.ts";
import { profile, read } from "../gate/read.ts";

/** What the frame shows; `null` when it cannot be loaded. */
export const loadFrame = cache(async () => {
  const loaded = await nullOnError(Promise.all([profile(), read(unreadCount, {})]));
  if (loaded === null) return null;
  const [{ id, name, email, role, locale, preferences }, { count }] = loaded;
  return {
    user: { id, name, email, role },
    unread: count,
    state: JSON.stringify([name, email, role, locale, preferences.theme, count]),
  };
});
