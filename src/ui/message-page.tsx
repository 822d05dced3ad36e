import { LinkButton } from "./button.tsx";
import { NarrowPage } from "./narrow-page.tsx";

/** A page that says one thing and offers one way on. */
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
