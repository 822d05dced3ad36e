import { LinkButton } from "./button.tsx";
import { NarrowPage } from "./narrow-page.tsx";

/** A page with one message and one link. */
export function MessagePage({
  title,
  description,
  action,
}: {
  title: string;
  description: string;
  action: { label: string; href: string };
}) {
  return (
    <NarrowPage title={title} description={description}>
      <LinkButton href={action.href} variant="primary">
        {action.label}
      </LinkButton>
    </NarrowPage>
  );
}
