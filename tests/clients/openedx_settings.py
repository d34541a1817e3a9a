"""Django's settings for ``openedx_worker.py``: the templates of the problem block, and nothing else."""

INSTALLED_APPS = ["xblocks_contrib.problem.capa"]
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}]
STATIC_URL = "/static/"
USE_I18N = False
